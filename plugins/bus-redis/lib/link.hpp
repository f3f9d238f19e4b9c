#pragma once

#include "plugins/bus-redis/lib/resp.hpp"
#include "plugins/bus-redis/lib/settings.hpp"

#include <Poco/Net/Context.h>
#include <Poco/Net/StreamSocket.h>

#include <chrono>

namespace svc::bus_redis {

/// A connection to Redis on which somebody has logged in. Used by one thread. Throws
/// std::runtime_error when the connection is of no use any more.
class Link {
public:
    /// `context` is null without TLS. Takes `timeout_seconds` at most, and what the resolver takes.
    Link(const Settings& settings, const Poco::Net::Context::Ptr& context);

    int descriptor() const { return socket_.impl()->sockfd(); }
    /// Sends a command; waits only while the server takes nothing, up to the timeout.
    void send(std::string_view command);
    /// The next of what has been answered, without waiting. Throws what the server says it is an
    /// error.
    std::optional<Reply> next();
    /// Sends a command and waits for its answer.
    Reply ask(std::string_view command);

private:
    using Clock = std::chrono::steady_clock;

    void log_in(const Settings& settings);
    bool read_some();
    void wait(short events, Clock::time_point until) const;
    [[noreturn]] void fail(const std::string& why) const;

    const std::string host_;
    const std::chrono::seconds timeout_;
    Poco::Net::StreamSocket socket_;
    ReplyReader reader_;
};

}  // namespace svc::bus_redis

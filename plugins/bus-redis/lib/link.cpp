#include "plugins/bus-redis/lib/link.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "svc/bus.hpp"
#include "svc/socket_deadline.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/SecureStreamSocket.h>

#include <poll.h>

#include <array>

namespace svc::bus_redis {

namespace {

Poco::Net::StreamSocket connected(
    const Settings& settings,
    const Poco::Net::Context::Ptr& context,
    std::chrono::steady_clock::time_point end
) {
    auto plain = dial(settings.host, static_cast<std::uint16_t>(settings.port), end);
    auto socket = plain;
    if (context) {
        const SocketDeadline deadline(plain.impl()->sockfd(), end);
        socket = Poco::Net::SecureStreamSocket::attach(plain, settings.host, context);
    }
    plain.setNoDelay(true);
    plain.setKeepAlive(true);
    plain.setBlocking(false);  // the one beneath TLS: it is what that asks
    return socket;
}

}  // namespace

Link::Link(const Settings& settings, const Poco::Net::Context::Ptr& context) try
    : host_(settings.host),
      timeout_(settings.timeout_seconds),
      socket_(connected(settings, context, Clock::now() + timeout_)),
      reader_(BusConnection::longest_message) {
    log_in(settings);
} catch (const Poco::Exception& problem) {
    throw std::runtime_error(settings.host + ": " + problem.displayText());
}

void Link::log_in(const Settings& settings) {
    if (settings.password.empty()) return;
    ask(settings.username.empty() ? command_of({"AUTH", settings.password})
                                  : command_of({"AUTH", settings.username, settings.password}));
}

void Link::fail(const std::string& why) const { throw std::runtime_error(host_ + ": " + why); }

void Link::wait(short events, Clock::time_point until) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) fail("it takes too long");
    pollfd one{descriptor(), events, 0};
    poll(&one, 1, static_cast<int>(left) + 1);
}

void Link::send(std::string_view command) try {
    const auto until = Clock::now() + timeout_;
    while (!command.empty()) {
        const int count = socket_.sendBytes(command.data(), static_cast<int>(command.size()));
        if (count > 0) command.remove_prefix(static_cast<std::size_t>(count));
        else wait(POLLIN | POLLOUT, until);
    }
} catch (const Poco::Exception& problem) {
    fail(problem.displayText());
}

/// False when there is nothing to be read at this moment.
bool Link::read_some() try {
    std::array<char, 64 << 10> bytes;
    const int count = socket_.receiveBytes(bytes.data(), bytes.size());
    if (count == 0) fail("it closed the connection");
    if (count < 0) return false;
    reader_.feed({bytes.data(), static_cast<std::size_t>(count)});
    return true;
} catch (const Poco::Exception& problem) {
    fail(problem.displayText());
}

std::optional<Reply> Link::next() {
    // What is passed over is no reply, and may be as long as the server allows.
    constexpr int most_reads = 16;
    auto reply = reader_.next();
    for (int reads = 0; !reply && reads < most_reads && read_some(); ++reads)
        reply = reader_.next();
    if (reply && reply->kind == Reply::Kind::error) fail(reply->words.front());
    return reply;
}

Reply Link::ask(std::string_view command) {
    send(command);
    for (const auto until = Clock::now() + timeout_;;) {
        if (auto reply = next()) return *std::move(reply);
        wait(POLLIN, until);
    }
}

}  // namespace svc::bus_redis

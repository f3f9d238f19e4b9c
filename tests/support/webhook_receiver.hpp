#pragma once

#include "tests/support/listener.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

/// An endpoint that deliveries are sent to, on 127.0.0.1 and a port of its own.
namespace svc::test {

struct Received {
    std::string path;
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;

    std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? "" : found->second;
    }
};

/// Keeps what it is sent. A thread for each connection, which is kept open for the next request.
class WebhookReceiver {
public:
    /// Writes an answer to the socket; false closes it.
    using Answer = std::function<bool(int socket, const Received&)>;

    /// `port` 0 takes any.
    explicit WebhookReceiver(std::uint16_t port = 0);
    ~WebhookReceiver();
    WebhookReceiver(const WebhookReceiver&) = delete;
    WebhookReceiver& operator=(const WebhookReceiver&) = delete;

    std::uint16_t port() const { return port_; }
    std::string url(const std::string& path = "/") const;

    /// What it answers from now on, at paths that begin so; the longest beginning counts. 200 and
    /// "ok" elsewhere.
    void answer(const std::string& path, Answer answer);
    void answer(const std::string& path, int status, const std::string& more_headers = {});
    /// Keeps no bodies from now on, only counts.
    void only_count() { keeps_ = false; }

    std::size_t count(const std::string& path = "/") const;
    std::vector<Received> at(const std::string& path = "/") const;
    std::uint64_t total() const { return total_; }
    int connections() const { return listener_.connections(); }
    bool stopping() const { return stopping_; }

private:
    void serve(int socket);
    bool take(int socket, std::string& buffer);
    Answer answer_for(const std::string& path) const;

    std::atomic<bool> stopping_{false}, keeps_{true};
    std::atomic<std::uint64_t> total_{0};
    mutable std::mutex mutex_;
    std::map<std::string, Answer> answers_;
    std::vector<Received> received_;
    Listener listener_;  // behind all that its threads use
    const std::uint16_t port_;
};

/// An answer's text, with a length.
std::string http_answer(int status, const std::string& body = "ok", const std::string& more = {});
bool write_all(int socket, std::string_view text);

}  // namespace svc::test

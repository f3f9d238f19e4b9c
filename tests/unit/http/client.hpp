#pragma once

#include "http/text.hpp"
#include "tests/support/eventually.hpp"

#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace svc::http::test {

using namespace std::chrono_literals;

/// As a client reads it; names of headers in lower case.
struct Reply {
    int status = 0;
    std::string status_line;
    std::multimap<std::string, std::string> headers;
    std::string body;

    std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? "" : found->second;
    }
};

/// A raw connection to a server on loopback. Waits are bounded: what does not come in time ends
/// as if the server had closed, and tests see that nothing came.
class Client {
public:
    explicit Client(std::uint16_t port, int receive_buffer = 0) {
        socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (receive_buffer > 0)
            setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
            throw std::runtime_error("cannot connect");
        const int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Client(Client&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)), seen_(std::move(other.seen_)) {}
    ~Client() {
        if (socket_ >= 0) close(socket_);
    }

    /// False when the server no longer takes it.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void end_sending() { shutdown(socket_, SHUT_WR); }

    /// The next answer; nothing when the server closes or `patience` is over first.
    std::optional<Reply> read_reply(
        std::string_view method = "GET", std::chrono::milliseconds patience = 10s
    ) {
        const auto end = std::chrono::steady_clock::now() + patience;
        auto head_end = seen_.find("\r\n\r\n");
        while (head_end == std::string::npos) {
            if (!more(end)) return std::nullopt;
            head_end = seen_.find("\r\n\r\n");
        }
        Reply reply = parse(seen_.substr(0, head_end + 2));
        seen_.erase(0, head_end + 4);
        const bool bare = method == "HEAD" || reply.status < 200 || reply.status == 204 ||
                          reply.status == 304 || !reply.headers.contains("content-length");
        if (bare) return reply;
        const auto size = std::stoul(reply.header("content-length"));
        while (seen_.size() < size)
            if (!more(end)) return std::nullopt;
        reply.body = seen_.substr(0, size);
        seen_.erase(0, size);
        return reply;
    }
    std::optional<Reply> ask(std::string_view request, std::string_view method = "GET") {
        send(request);
        return read_reply(method);
    }

    /// Everything up to the server's end of the connection, or what came while waiting for it.
    std::string read_to_end(std::chrono::milliseconds patience = 10s) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (more(end)) {
        }
        return std::exchange(seen_, {});
    }
    /// True when the server ends the connection in that time.
    bool is_closed_within(std::chrono::milliseconds patience) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (more(end)) {
        }
        return closed_;
    }
    /// Reads until `text` has come in; false when the end or the time comes first.
    bool sees(std::string_view text, std::chrono::milliseconds patience = 10s) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (seen_.find(text) == std::string::npos)
            if (!more(end)) return false;
        return true;
    }
    const std::string& seen() const { return seen_; }
    /// What has come in and was not read as an answer, to be taken from.
    std::string& unread() { return seen_; }
    /// Waits for more; false when none comes in time, or the server has ended the connection.
    bool receive(std::chrono::milliseconds patience) {
        return more(std::chrono::steady_clock::now() + patience);
    }
    int socket() const { return socket_; }

private:
    bool more(std::chrono::steady_clock::time_point end) {
        using std::chrono::milliseconds;
        const auto left =
            std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
        pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
        if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) != 1) return false;
        char bytes[16 << 10];
        const auto got = recv(socket_, bytes, sizeof bytes, 0);
        if (got <= 0) {
            closed_ = true;
            return false;
        }
        seen_.append(bytes, static_cast<std::size_t>(got));
        return true;
    }

    static Reply parse(std::string_view head) {
        Reply reply;
        const auto line_end = head.find("\r\n");
        reply.status_line = head.substr(0, line_end);
        reply.status = std::stoi(reply.status_line.substr(9, 3));
        head.remove_prefix(line_end + 2);
        while (!head.empty()) {
            const auto line = head.substr(0, head.find("\r\n"));
            const auto colon = line.find(':');
            std::string name(line.substr(0, colon));
            for (char& c : name) c = lower(c);
            reply.headers.emplace(name, without_blanks(line.substr(colon + 1)));
            head.remove_prefix(line.size() + 2);
        }
        return reply;
    }

    int socket_ = -1;
    std::string seen_;
    bool closed_ = false;
};

inline std::string get(std::string_view path, std::string_view headers = "") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n" + std::string(headers) +
           "\r\n";
}
inline std::string post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

/// How many answers a stretch of bytes holds.
inline int count_answers(std::string_view bytes) {
    static constexpr std::string_view opening = "HTTP/1.1 ";
    int count = 0;
    for (auto at = bytes.find(opening); at != std::string_view::npos;
         at = bytes.find(opening, at + 1))
        if (at + opening.size() < bytes.size() && is_digit(bytes[at + opening.size()])) ++count;
    return count;
}

using svc::test::eventually;

}  // namespace svc::http::test

#include "tests/support/client.hpp"
#include "tests/support/refusals.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace svc::test {

namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return text;
}

std::string trimmed(std::string text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
    return text;
}

}  // namespace

std::string Reply::header(std::string_view name) const {
    const auto found = std::ranges::find(headers, name, &Headers::value_type::first);
    return found == headers.end() ? "" : found->second;
}

boost::json::value Reply::json() const {
    boost::json::error_code problem;
    auto value = boost::json::parse(body, problem);
    if (problem) throw std::runtime_error("not JSON (" + std::to_string(status) + "): " + body);
    return value;
}

std::string Reply::text(std::string_view pointer) const {
    const auto value = json();
    boost::json::error_code problem;
    const auto* found = value.find_pointer(pointer, problem);
    if (!found)
        throw std::runtime_error(
            std::string(pointer) + " is not in " + std::to_string(status) + ": " + body
        );
    return found->is_string() ? std::string(found->get_string()) : boost::json::serialize(*found);
}

Connection::Connection(std::uint16_t port, std::chrono::milliseconds timeout)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const timeval wait{
        .tv_sec = timeout.count() / 1000, .tv_usec = (timeout.count() % 1000) * 1000};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
    const std::string why = std::strerror(errno);
    ::close(fd_);
    throw ConnectionError("cannot connect to port " + std::to_string(port) + ": " + why);
}

Connection::~Connection() {
    if (fd_ >= 0) ::close(fd_);
}

Connection::Connection(Connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(buffer_, other.buffer_);
    return *this;
}

void Connection::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) throw ConnectionError("cannot send: " + std::string(std::strerror(errno)));
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void Connection::more() {
    char bytes[16384];
    const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got == 0) throw ConnectionError("the server closed the connection");
    if (got < 0) throw ConnectionError("no answer: " + std::string(std::strerror(errno)));
    buffer_.append(bytes, static_cast<std::size_t>(got));
}

std::string Connection::line() {
    std::size_t end;
    while ((end = buffer_.find("\r\n")) == std::string::npos) more();
    auto text = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    return text;
}

Reply Connection::read(std::string_view method) {
    Reply reply;
    const auto status_line = line();
    if (!status_line.starts_with("HTTP/1.1 ") || status_line.size() < 12)
        throw ConnectionError("not an HTTP/1.1 answer: " + status_line);
    reply.status = std::stoi(status_line.substr(9, 3));
    for (std::string each; !(each = line()).empty();) {
        const auto colon = each.find(':');
        reply.headers.emplace_back(lower(each.substr(0, colon)), trimmed(each.substr(colon + 1)));
    }
    const auto length = reply.header("content-length");
    if (method == "HEAD") return reply;
    if (lower(reply.header("transfer-encoding")) == "chunked") {
        for (std::size_t size = 1; size > 0; line()) {
            size = std::stoul(line(), nullptr, 16);
            reply.body += bytes(size);
        }
    } else if (!length.empty()) {
        reply.body = bytes(std::stoul(length));
    }
    return reply;
}

std::string Connection::bytes(std::size_t size) {
    while (buffer_.size() < size) more();
    auto text = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return text;
}

Client& Client::always(std::string name, std::string value) {
    if (value.empty()) always_.erase(name);
    else always_[std::move(name)] = std::move(value);
    return *this;
}

std::string Client::request(
    std::string_view method, std::string_view path, std::string_view body, const Headers& headers
) const {
    std::string out;
    out.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for (const auto& [name, value] : always_) out += name + ": " + value + "\r\n";
    for (const auto& [name, value] : headers) out += name + ": " + value + "\r\n";
    if (!cookies_.empty()) {
        std::string line;
        for (const auto& [name, value] : cookies_) {
            if (!line.empty()) line += "; ";
            line += name + "=" + value;
        }
        out += "Cookie: " + line + "\r\n";
        // What a page of ours does with the readable cookie.
        if (cookies_.contains("svc_csrf")) out += "X-CSRF-Token: " + cookie("svc_csrf") + "\r\n";
    }
    const bool typed = std::ranges::any_of(headers, [](const auto& each) {
        return lower(each.first) == "content-type";
    });
    if (!body.empty() && !typed) out += "Content-Type: application/json\r\n";
    if (!body.empty() || method != "GET")
        out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return out.append("\r\n").append(body);
}

std::string Client::cookie(std::string_view name) const {
    const auto found = cookies_.find(name);
    return found == cookies_.end() ? "" : found->second;
}

void Client::remember(const Reply& reply) {
    for (const auto& [name, value] : reply.headers) {
        if (name != "set-cookie") continue;
        const auto pair = value.substr(0, value.find(';'));
        const auto equals = pair.find('=');
        const auto key = pair.substr(0, equals), secret = pair.substr(equals + 1);
        if (secret.empty()) cookies_.erase(key);
        else cookies_[key] = secret;
    }
    if (lower(reply.header("connection")) == "close") connection_.clear();
}

Reply Client::send(
    std::string_view method, std::string_view path, std::string_view body, const Headers& headers
) {
    const auto bytes = request(method, path, body, headers);
    if (!connection_.empty()) {
        // An idle connection may have been closed meanwhile: that shows before anything is sent.
        pollfd state{connection_.front().fd(), POLLIN, 0};
        if (::poll(&state, 1, 0) != 0) connection_.clear();
    }
    if (connection_.empty()) connection_.emplace_back(port_);
    try {
        connection_.front().write(bytes);
        auto reply = connection_.front().read(method);
        remember(reply);
        if (reply.status >= 400 && path.starts_with("/v1/"))
            note_refusal(std::string(method).append(" ").append(path), reply.body);
        return reply;
    } catch (...) {
        connection_.clear();
        throw;
    }
}

}  // namespace svc::test

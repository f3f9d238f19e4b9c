#include "tests/support/webhook_receiver.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace svc::test {

std::string http_answer(int status, const std::string& body, const std::string& more) {
    return "HTTP/1.1 " + std::to_string(status) +
           " Whatever\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" +
           body;
}

bool write_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

WebhookReceiver::WebhookReceiver(std::uint16_t port)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 1024) != 0)
        throw std::runtime_error("cannot listen");
    ::getsockname(listener_, any, &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
}

WebhookReceiver::~WebhookReceiver() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& each : threads_) each.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
}

std::string WebhookReceiver::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void WebhookReceiver::answer(const std::string& path, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_[path] = std::move(answer);
}

void WebhookReceiver::answer(const std::string& path, int status, const std::string& more_headers) {
    answer(path, [text = http_answer(status, "ok", more_headers)](int socket, const Received&) {
        return write_all(socket, text);
    });
}

std::size_t WebhookReceiver::count(const std::string& path) const { return at(path).size(); }

std::vector<Received> WebhookReceiver::at(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    std::vector<Received> out;
    for (const Received& each : received_)
        if (each.path.starts_with(path)) out.push_back(each);
    return out;
}

void WebhookReceiver::accept_all() {
    while (!stopping_) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) continue;
        ++connections_;
        const std::lock_guard lock(mutex_);
        sockets_.push_back(socket);
        threads_.emplace_back([this, socket] { serve(socket); });
    }
}

void WebhookReceiver::serve(int socket) {
    std::string buffer;
    while (!stopping_ && take(socket, buffer)) {
    }
    ::shutdown(socket, SHUT_RDWR);  // closed with the receiver, so that its number is not reused
}

bool WebhookReceiver::take(int socket, std::string& buffer) {
    const auto more = [&] {
        char bytes[16 << 10];
        const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
        if (count > 0) buffer.append(bytes, static_cast<std::size_t>(count));
        return count > 0;
    };
    std::size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == buffer.npos)
        if (!more()) return false;
    Received received;
    std::string_view head = std::string_view(buffer).substr(0, end + 2);
    const auto line_end = head.find("\r\n");
    const auto path_begin = head.find(' ') + 1;
    received.path = head.substr(path_begin, head.find(' ', path_begin) - path_begin);
    for (head.remove_prefix(line_end + 2); !head.empty();) {
        const auto line = head.substr(0, head.find("\r\n"));
        const auto colon = line.find(": ");
        std::string name(line.substr(0, colon));
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        received.headers[name] = line.substr(colon + 2);
        head.remove_prefix(line.size() + 2);
    }
    buffer.erase(0, end + 4);
    const std::size_t length = std::stoul("0" + received.header("content-length"));
    while (buffer.size() < length)
        if (!more()) return false;
    received.body = buffer.substr(0, length);
    buffer.erase(0, length);
    const Answer answer = answer_for(received.path);
    ++total_;
    if (keeps_) {
        const std::lock_guard lock(mutex_);
        received_.push_back(received);
    }
    return answer(socket, received);
}

WebhookReceiver::Answer WebhookReceiver::answer_for(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const Answer* best = nullptr;
    std::size_t longest = 0;
    for (const auto& [beginning, answer] : answers_)
        if (path.starts_with(beginning) && beginning.size() >= longest)
            best = &answer, longest = beginning.size();
    if (best) return *best;
    return [](int socket, const Received&) { return write_all(socket, http_answer(200)); };
}

}  // namespace svc::test

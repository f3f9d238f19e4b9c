#include "tests/support/webhook_receiver.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cctype>

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
    : listener_([this](int socket) { serve(socket); }, "127.0.0.1", std::to_string(port)),
      port_(static_cast<std::uint16_t>(std::stoi(listener_.port()))) {}

WebhookReceiver::~WebhookReceiver() { stopping_ = true; }

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

void WebhookReceiver::serve(int socket) {
    std::string buffer;
    while (!stopping_ && take(socket, buffer)) {
    }
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

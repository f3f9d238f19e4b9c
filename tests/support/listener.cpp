#include "tests/support/listener.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace svc::test {

Listener::Listener(Serve serve, const std::string& address, const std::string& port)
    : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    ::inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    socklen_t size = sizeof at;
    auto* any = reinterpret_cast<sockaddr*>(&at);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 1024) != 0)
        throw std::runtime_error("cannot listen on " + address + ":" + port);
    ::getsockname(listener_, any, &size);
    port_ = std::to_string(ntohs(at.sin_port));
    accepting_ = std::thread([this] { accept_all(); });
}

Listener::~Listener() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& each : threads_) each.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
}

int Listener::connections() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(sockets_.size());
}

void Listener::accept_all() {
    for (;;) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        const std::lock_guard lock(mutex_);
        if (socket >= 0) sockets_.push_back(socket);
        if (stopping_) return;
        if (socket < 0) continue;
        threads_.emplace_back([this, socket] {
            serve_(socket);
            ::shutdown(socket, SHUT_RDWR);  // closed at the end, so that its number is not reused
        });
    }
}

}  // namespace svc::test

#include "http/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace svc::http {

namespace {

constexpr int accept_backlog = 4096;

[[noreturn]] void refuse(const std::string& address, std::uint16_t port, const char* why) {
    const std::string at = port == 0 ? "" : " port " + std::to_string(port);
    throw std::runtime_error("cannot listen on " + address + at + ": " + why);
}

int bound(const addrinfo& to) {
    const int socket = ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return -1;
    constexpr int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // accepted ones inherit it
    if (bind(socket, to.ai_addr, to.ai_addrlen) == 0 && listen(socket, accept_backlog) == 0)
        return socket;
    const int why = errno;
    ::close(socket);
    errno = why;
    return -1;
}

}  // namespace

int listen_on(const std::string& address, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const auto service = std::to_string(port);
    if (const int why = getaddrinfo(address.c_str(), service.c_str(), &hints, &found))
        refuse(address, port, gai_strerror(why));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
    const int socket = bound(*all);
    if (socket < 0) refuse(address, port, std::strerror(errno));
    return socket;
}

std::uint16_t port_of(int socket) {
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size);
    const bool v6 = local.ss_family == AF_INET6;
    return ntohs(
        v6 ? reinterpret_cast<const sockaddr_in6&>(local).sin6_port
           : reinterpret_cast<const sockaddr_in&>(local).sin_port
    );
}

}  // namespace svc::http

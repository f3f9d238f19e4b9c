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

[[noreturn]] void refuse(const std::string& where, const char* why) {
    throw std::runtime_error("cannot listen on " + where + ": " + why);
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses resolved(const std::string& address, std::uint16_t port, const std::string& where) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const auto service = std::to_string(port);
    if (const int why = getaddrinfo(address.c_str(), service.c_str(), &hints, &found))
        refuse(where, gai_strerror(why));
    return {found, freeaddrinfo};
}

/// Why it is closed stays in errno.
int closed(int socket) {
    const int why = errno;
    ::close(socket);
    errno = why;
    return -1;
}

/// A socket, or -1 and errno.
int bound(const addrinfo& to) {
    const int socket = ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return -1;
    constexpr int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // accepted ones inherit it
    return bind(socket, to.ai_addr, to.ai_addrlen) == 0 ? socket : closed(socket);
}

}  // namespace

int listen_on(const std::string& address, std::uint16_t port) {
    const std::string where = address + " port " + std::to_string(port);
    const Addresses all = resolved(address, port, where);
    int socket = bound(*all);
    if (socket >= 0 && listen(socket, accept_backlog) != 0) socket = closed(socket);
    if (socket < 0) refuse(where, std::strerror(errno));
    return socket;
}

void check_address(const std::string& address) {
    const Addresses all = resolved(address, 0, address);
    if (const int socket = bound(*all); socket >= 0) ::close(socket);
    else if (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT) refuse(address, std::strerror(errno));
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

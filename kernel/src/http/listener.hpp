#pragma once

#include <cstdint>
#include <string>

namespace svc::http {

/// A non-blocking listening socket whose connections have TCP_NODELAY; port 0 takes any free
/// one. Throws std::runtime_error naming the address.
int listen_on(const std::string& address, std::uint16_t port);

/// Throws std::runtime_error when the address is none of this machine, whichever port is asked for.
void check_address(const std::string& address);

std::uint16_t port_of(int socket);

}  // namespace svc::http

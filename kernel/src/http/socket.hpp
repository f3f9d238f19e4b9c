#pragma once

#include "http/tls.hpp"

#include <array>
#include <memory>

namespace svc::http {

/// A connected, non-blocking socket, plain or under TLS. Owns it; one thread at a time.
class Socket {
public:
    Socket() = default;
    ~Socket() { close(); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    void open(int socket, std::unique_ptr<Tls> tls);
    int socket() const { return socket_; }
    bool secure() const { return tls_ != nullptr; }

    /// 1 when there is nothing (left) to agree on.
    std::ptrdiff_t handshake() { return tls_ ? tls_->handshake() : 1; }
    /// After a handshake that failed: the peer began with an HTTP request.
    bool met_plain_http() const { return tls_ && tls_->met_plain_http(); }
    std::ptrdiff_t read(char* to, std::size_t size);
    std::ptrdiff_t write(std::string_view bytes);
    /// All of them, one behind the other, in one system call where that can be; some may be empty.
    using Texts = std::array<std::string_view, 3>;
    std::ptrdiff_t write(const Texts& texts);
    /// Bytes of a file. `gone` also when the file has become shorter than it was said to be.
    std::ptrdiff_t write(int file, std::uint64_t offset, std::size_t size);

    /// Bytes written that the peer has not taken yet.
    std::size_t untaken() const;
    /// After this the peer reads to the end of what was sent.
    void end_writing();
    /// Reads and throws away; as read().
    std::ptrdiff_t discard();
    /// What was not sent is thrown away with the socket, and the peer gets a reset.
    void reset();
    void close();

private:
    int socket_ = -1;
    std::unique_ptr<Tls> tls_;
};

}  // namespace svc::http

#include "modules/lib/http_client/loop_socket.hpp"

#include "modules/lib/http_client/dial.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace svc {

namespace {

std::string text_of(int error) { return std::strerror(error); }

/// What OpenSSL last complained of, in its words.
std::string tls_complaint() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason ? reason : "the connection broke off";
}

}  // namespace

LoopSocket::LoopSocket(
    const Poco::Net::SocketAddress& address,
    const std::string& host,
    const Poco::Net::Context::Ptr& tls
)
    : host_(host), tls_(tls), ssl_(nullptr, SSL_free) {
    fd_ = ::socket(address.af(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) throw std::runtime_error("no socket: " + text_of(errno));
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_, address.addr(), address.length()) == 0 || errno == EINPROGRESS) return;
    const int error = errno;
    ::close(fd_);
    throw std::runtime_error("cannot connect: " + text_of(error));
}

LoopSocket::~LoopSocket() {
    ssl_.reset();
    ::close(fd_);
}

LoopSocket::Step LoopSocket::connect() {
    if (!connected_) {
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
        if (error == EINPROGRESS) return Step::wait_write;
        if (error != 0) return fail("cannot connect: " + text_of(error));
        sockaddr_storage peer;
        socklen_t peer_size = sizeof peer;
        if (::getpeername(fd_, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
            return Step::wait_write;  // it is still under way
        connected_ = true;
    }
    if (!tls_ || shaken_) return Step::done;
    if (!ssl_)
        if (const Step begun = begin_tls(); begun != Step::done) return begun;
    ERR_clear_error();
    const int result = SSL_connect(ssl_.get());
    if (result == 1) return shaken_ = true, Step::done;
    if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK)
        return fail(std::string("certificate: ") + X509_verify_cert_error_string(verdict));
    const Step step = judge(result);
    return step == Step::closed ? fail("the TLS handshake broke off") : step;
}

LoopSocket::Step LoopSocket::begin_tls() {
    ssl_.reset(SSL_new(tls_->sslContext()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), fd_) != 1) return fail("TLS cannot be started");
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    X509_VERIFY_PARAM* expected = SSL_get0_param(ssl_.get());
    if (const auto address = address_in(host_)) {
        const auto* bytes = static_cast<const unsigned char*>(address->addr());
        if (X509_VERIFY_PARAM_set1_ip(expected, bytes, address->length()) != 1)
            return fail("TLS cannot be started");
        return Step::done;
    }
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_host(expected, host_.data(), host_.size()) != 1 ||
        SSL_set_tlsext_host_name(ssl_.get(), host_.c_str()) != 1)
        return fail("TLS cannot be started");
    return Step::done;
}

LoopSocket::Step LoopSocket::write(std::string_view bytes, std::size_t& written) {
    written = 0;
    if (ssl_) {
        ERR_clear_error();
        const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
        return result == 1 ? Step::done : judge(result);
    }
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) return written = static_cast<std::size_t>(count), Step::done;
    if (errno == EAGAIN || errno == EINTR) return Step::wait_write;
    return fail(text_of(errno));
}

LoopSocket::Step LoopSocket::read(std::string& into) {
    std::array<char, 16 << 10> piece;
    if (ssl_) {
        std::size_t count = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(ssl_.get(), piece.data(), piece.size(), &count);
        if (result != 1) return judge(result);
        into.append(piece.data(), count);
        return Step::done;
    }
    const ssize_t count = ::recv(fd_, piece.data(), piece.size(), 0);
    if (count > 0) return into.append(piece.data(), static_cast<std::size_t>(count)), Step::done;
    if (count == 0) return Step::closed;
    if (errno == EAGAIN || errno == EINTR) return Step::wait_read;
    return fail(text_of(errno));
}

LoopSocket::Step LoopSocket::judge(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ: return Step::wait_read;
        case SSL_ERROR_WANT_WRITE: return Step::wait_write;
        case SSL_ERROR_ZERO_RETURN: return Step::closed;
        case SSL_ERROR_SYSCALL: return fail(errno ? text_of(errno) : "the connection broke off");
        default: return fail("TLS: " + tls_complaint());
    }
}

LoopSocket::Step LoopSocket::fail(const std::string& why) { return error_ = why, Step::failed; }

}  // namespace svc

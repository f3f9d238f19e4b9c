#include "modules/lib/http_client/loop_socket.hpp"

#include "modules/lib/http_client/dial.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace svc {

namespace {

const char* const too_much = "the other side sends too much";

std::string text_of(int error) { return std::strerror(error); }

/// What OpenSSL last complained of, in its words.
std::string tls_complaint() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason ? reason : "the connection broke off";
}

}  // namespace

/// What OpenSSL reads and writes by. It goes on by itself as long as there is something to read
/// that is not for us: requests for a handshake, tickets, new keys. So the bounds are here.
struct LoopSocket::Bio {
    static LoopSocket& socket(BIO* bio) { return *static_cast<LoopSocket*>(BIO_get_data(bio)); }
    static int read(BIO* bio, char* into, int size) {
        BIO_clear_retry_flags(bio);
        const ssize_t count = socket(bio).receive(into, static_cast<std::size_t>(size));
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
        return static_cast<int>(count);
    }
    static int write(BIO* bio, const char* from, int size) {
        BIO_clear_retry_flags(bio);
        const ssize_t count =
            ::send(socket(bio).fd_, from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
        return static_cast<int>(count);
    }
    static long control(BIO* bio, int command, long, void*) {
        if (command == BIO_CTRL_EOF) return socket(bio).ended_;
        return command == BIO_CTRL_FLUSH;
    }
    static const BIO_METHOD* method() {
        static const auto made = [] {
            std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)> out(
                BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "loop socket"),
                BIO_meth_free
            );
            if (!out) throw std::runtime_error("TLS cannot be started");
            BIO_meth_set_read(out.get(), &Bio::read);
            BIO_meth_set_write(out.get(), &Bio::write);
            BIO_meth_set_ctrl(out.get(), &Bio::control);
            return out;
        }();
        return made.get();
    }
    static BIO* make(LoopSocket& of) {
        BIO* bio = BIO_new(method());
        if (!bio) return nullptr;
        BIO_set_data(bio, &of);
        BIO_set_init(bio, 1);
        return bio;
    }
};

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
    BIO* bio = ssl_ ? Bio::make(*this) : nullptr;
    if (!bio) return fail("TLS cannot be started");
    SSL_set_bio(ssl_.get(), bio, bio);
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
    const ssize_t count = receive(piece.data(), piece.size());
    if (count > 0) return into.append(piece.data(), static_cast<std::size_t>(count)), Step::done;
    if (count == 0) return Step::closed;
    if (errno == EAGAIN || errno == EINTR) return Step::wait_read;
    return fail(left_in_exchange_ == 0 ? too_much : text_of(errno));
}

/// As recv(), within the bounds.
ssize_t LoopSocket::receive(char* into, std::size_t size) {
    const std::size_t most = std::min({size, left_in_turn_, left_in_exchange_});
    if (most == 0) {
        errno = left_in_exchange_ == 0 ? EMSGSIZE : EAGAIN;
        return -1;
    }
    const ssize_t count = ::recv(fd_, into, most, 0);
    if (count > 0) {
        left_in_turn_ -= static_cast<std::size_t>(count);
        left_in_exchange_ -= static_cast<std::size_t>(count);
    }
    ended_ |= count == 0;
    return count;
}

LoopSocket::Step LoopSocket::judge(int result) {
    if (left_in_exchange_ == 0) return fail(too_much);
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

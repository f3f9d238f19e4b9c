#include "http/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>

namespace svc::http {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::filesystem::path& file) {
    const auto code = ERR_peek_last_error();
    const char* reason = code ? ERR_reason_error_string(code) : nullptr;
    ERR_clear_error();
    throw std::runtime_error(
        what + " " + file.string() + (reason ? std::string(": ") + reason : std::string())
    );
}

/// Both or none, and files that can be read: what OpenSSL says of others names neither.
void require_files(const std::filesystem::path& certificate, const std::filesystem::path& key) {
    struct Named {
        const char *setting, *other;
        const std::filesystem::path& file;
    };
    for (const auto& each :
         {Named{"server.certificate", "server.key", certificate},
          Named{"server.key", "server.certificate", key}}) {
        if (each.file.empty())
            throw std::runtime_error(
                std::string(each.setting) + " is empty; " + each.other + " needs it"
            );
        const int file = ::open(each.file.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0)
            throw std::runtime_error(
                std::string(each.setting) + ": cannot read " + each.file.string() + ": " +
                std::generic_category().message(errno)
            );
        ::close(file);
    }
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered, unsigned int offered_size, void*) {
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* chosen = nullptr;
    const int found =
        SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, offered, offered_size);
    if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a peer that hung up would end the
// process by SIGPIPE.
int socket_of(BIO* bio) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int transferred(BIO* bio, ssize_t moved, int retry) {
    BIO_clear_retry_flags(bio);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_flags(bio, retry);
    return static_cast<int>(moved);
}

int bio_read(BIO* bio, char* to, int size) {
    const auto moved = recv(socket_of(bio), to, static_cast<std::size_t>(size), MSG_DONTWAIT);
    return transferred(bio, moved, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
}

int bio_write(BIO* bio, const char* from, int size) {
    const auto moved =
        send(socket_of(bio), from, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
    return transferred(bio, moved, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* quiet_socket() {
    static BIO_METHOD* const method = [] {
        auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "quiet socket");
        BIO_meth_set_read(made, bio_read);
        BIO_meth_set_write(made, bio_write);
        BIO_meth_set_ctrl(made, bio_control);
        return made;
    }();
    return method;
}

int clamped(std::size_t size) {
    return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

TlsContext::TlsContext(const std::filesystem::path& certificate, const std::filesystem::path& key)
    : context_(SSL_CTX_new(TLS_server_method())) {
    if (!context_) throw std::bad_alloc();
    ERR_clear_error();
    try {
        require_files(certificate, key);
        SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
        SSL_CTX_set_options(
            context_,
            SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE
        );
        SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM:ECDHE+CHACHA20");
        SSL_CTX_set_mode(
            context_,
            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                SSL_MODE_RELEASE_BUFFERS
        );
        SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);  // tickets suffice
        SSL_CTX_set_alpn_select_cb(context_, choose_protocol, nullptr);
        if (SSL_CTX_use_certificate_chain_file(context_, certificate.c_str()) != 1)
            refuse("server.certificate: there is no certificate in", certificate);
        // Nobody is there to be asked for a passphrase.
        SSL_CTX_set_default_passwd_cb(context_, [](char*, int, int, void*) { return 0; });
        if (SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) != 1)
            refuse("server.key: there is no private key of this certificate in", key);
        if (SSL_CTX_check_private_key(context_) != 1)
            refuse("server.key: the private key does not belong to the certificate: see", key);
    } catch (...) {
        SSL_CTX_free(context_);
        throw;
    }
}

std::int64_t TlsContext::seconds_left() const {
    int days = 0, seconds = 0;
    const X509* certificate = SSL_CTX_get0_certificate(context_);
    if (!ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate))) return 0;
    return std::int64_t{days} * 86400 + seconds;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Tls::Tls(const TlsContext& context, int socket) : ssl_(SSL_new(context.get())) {
    BIO* bio = ssl_ ? BIO_new(quiet_socket()) : nullptr;
    if (!bio) {
        SSL_free(ssl_);
        throw std::bad_alloc();
    }
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_, bio, bio);
    SSL_set_accept_state(ssl_);
}

Tls::~Tls() { SSL_free(ssl_); }

std::ptrdiff_t Tls::outcome(int result) {
    if (result > 0) return result;
    const int error = SSL_get_error(ssl_, result);
    const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    return waits ? io::later : io::gone;
}

std::ptrdiff_t Tls::handshake() {
    ERR_clear_error();
    const auto done = outcome(SSL_do_handshake(ssl_));
    if (done == io::gone)
        met_plain_http_ = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST;
    return done;
}

std::ptrdiff_t Tls::read(char* to, std::size_t size) {
    ERR_clear_error();
    return outcome(SSL_read(ssl_, to, clamped(size)));
}

std::ptrdiff_t Tls::write(std::string_view bytes) {
    ERR_clear_error();
    return outcome(SSL_write(ssl_, bytes.data(), clamped(bytes.size())));
}

void Tls::say_goodbye() {
    ERR_clear_error();
    if (SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
}

}  // namespace svc::http

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace svc::http {

/// What a transfer came to: bytes when positive, and otherwise one of these.
namespace io {
constexpr std::ptrdiff_t later = 0;  ///< nothing can be done now; an event will come
constexpr std::ptrdiff_t gone = -1;  ///< the peer ended its side, or the connection broke
}  // namespace io

/// Certificate, key and rules for all TLS connections. TLS 1.2 and up, forward secrecy, HTTP/1.1
/// by ALPN. Thread-safe.
class TlsContext {
public:
    /// Throws std::runtime_error naming the setting and the file that is missing, unreadable or
    /// does not fit.
    TlsContext(const std::filesystem::path& certificate, const std::filesystem::path& key);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;
    ssl_ctx_st* get() const { return context_; }
    /// Until when the certificate is good, in seconds from now; negative: it no longer is.
    std::int64_t seconds_left() const;

private:
    ssl_ctx_st* context_;
};

/// One TLS connection over a non-blocking socket; one thread at a time.
class Tls {
public:
    Tls(const TlsContext& context, int socket);
    ~Tls();
    Tls(const Tls&) = delete;
    Tls& operator=(const Tls&) = delete;

    /// 1 when the handshake is done.
    std::ptrdiff_t handshake();
    /// After a handshake that failed: the peer began with an HTTP request.
    bool met_plain_http() const { return met_plain_http_; }
    std::ptrdiff_t read(char* to, std::size_t size);
    /// After `later` the same bytes are to be given again.
    std::ptrdiff_t write(std::string_view bytes);
    /// Tells the peer that nothing more will come.
    void say_goodbye();

private:
    std::ptrdiff_t outcome(int result);
    ssl_st* ssl_;
    bool met_plain_http_ = false;
};

}  // namespace svc::http

// HttpLoop over TLS: to whom it talks, and to whom it does not.

#include "modules/lib/http_client/dial.hpp"
#include "modules/lib/http_client/http_client.hpp"
#include "modules/lib/http_client/http_loop.hpp"

#include "tests/support/certificate.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace svc::test {
namespace {

using namespace std::chrono_literals;

/// Answers 200 to whoever shakes hands, on 127.0.0.1, and notes the name that was asked for.
class TlsServer {
public:
    explicit TlsServer(const http::test::Certificate& certificate)
        : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
          listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        SSL_CTX_use_certificate_chain_file(context_.get(), certificate.certificate().c_str());
        SSL_CTX_use_PrivateKey_file(context_.get(), certificate.key().c_str(), SSL_FILETYPE_PEM);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 8) != 0)
            throw std::runtime_error("cannot listen");
        ::getsockname(listener_, any, &size);
        port_ = std::to_string(ntohs(address.sin_port));
        thread_ = std::thread([this] { run(); });
    }
    ~TlsServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    std::string url(const std::string& host) const { return "https://" + host + ":" + port_ + "/"; }
    int answered() const { return answered_; }
    std::string asked_for() const { return asked_for_; }

private:
    void run() {
        for (int socket; (socket = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(socket)) {
            const timeval patience{2, 0};
            ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
            const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context_.get()), SSL_free);
            SSL_set_fd(ssl.get(), socket);
            if (SSL_accept(ssl.get()) != 1) continue;
            if (const char* name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name))
                asked_for_ = name;
            std::string asked;
            char bytes[4096];
            for (int count; asked.find("\r\n\r\nbody") == asked.npos &&
                            (count = SSL_read(ssl.get(), bytes, sizeof bytes)) > 0;)
                asked.append(bytes, static_cast<std::size_t>(count));
            const std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            ++answered_;
            SSL_write(ssl.get(), text.data(), static_cast<int>(text.size()));
            SSL_shutdown(ssl.get());
        }
    }

    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
    const int listener_;
    std::string port_, asked_for_;
    std::atomic<int> answered_{0};
    std::thread thread_;
};

HttpLoop::Outcome post(const std::string& url, const std::string& ca_file) {
    HttpLoop loop({.connect_time = 3s, .time = 3s, .ca_file = ca_file});
    std::promise<HttpLoop::Outcome> promise;
    loop.post(
        {.to = WebAddress::parse(url),
         .body = std::make_shared<const std::string>("body"),
         .lane = "a",
         .group = "a"},
        [&](HttpLoop::Outcome outcome) { promise.set_value(std::move(outcome)); }
    );
    return promise.get_future().get();
}

TEST(HttpLoopsOverTls, TalkToWhomAnAuthorityVouchesForUnderThatName) {
    const http::test::Certificate certificate;
    const TlsServer server(certificate);
    const auto outcome = post(server.url("localhost"), certificate.certificate());
    EXPECT_EQ(outcome.status, 200) << outcome.error;
    EXPECT_EQ(outcome.body, "ok");
    EXPECT_EQ(server.asked_for(), "localhost");
}

TEST(HttpLoopsOverTls, TalkToNobodyElse) {
    const http::test::Certificate certificate, other;
    const TlsServer server(certificate);
    const std::string own = certificate.certificate();
    for (const auto& [host, ca_file] : std::vector<std::pair<std::string, std::string>>{
             {"localhost", ""},                   // nobody vouches for it
             {"localhost", other.certificate()},  // but for another
             {"127.0.0.1", own},                  // of another name
             {"localhost.localdomain", own}
         }) {
        const auto outcome = post(server.url(host), ca_file);
        EXPECT_EQ(outcome.status, 0) << host;
        EXPECT_NE(outcome.error, "") << host;
    }
    EXPECT_EQ(server.answered(), 0);
}

TEST(HttpLoopsOverTls, AFileThatIsNotThereIsNoticedAtOnce) {
    EXPECT_ANY_THROW(HttpLoop({.ca_file = "/nowhere/authorities.pem"}));
    EXPECT_ANY_THROW(HttpClient({.ca_file = "/nowhere/authorities.pem"}));
}

TEST(HttpLoopsOverTls, TheSystemsAuthoritiesAreReadOnce) {
    const LazyTlsContext system("");
    const auto first = system.get();
    ASSERT_TRUE(first);
    EXPECT_EQ(system.get().get(), first.get());
}

}  // namespace
}  // namespace svc::test

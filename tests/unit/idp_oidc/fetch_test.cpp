#include "plugins/idp-oidc/lib/fetch.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace svc::test {
namespace {

using namespace idp_oidc;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Takes one connection, and answers its request with whatever `serve` writes to the socket.
class OneAnswer {
public:
    explicit OneAnswer(std::function<void(int socket)> serve)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{
            .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t size = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 1) != 0)
            throw std::runtime_error("cannot listen");
        ::getsockname(listener_, any, &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, serve = std::move(serve)] {
            const int socket = ::accept(listener_, nullptr, nullptr);
            if (socket < 0) return;
            char byte = 0;
            while (asked_.find("\r\n\r\n") == asked_.npos && ::recv(socket, &byte, 1, 0) == 1)
                asked_ += byte;
            serve(socket);
            ::close(socket);
        });
    }
    ~OneAnswer() {
        ::shutdown(listener_, SHUT_RDWR);
        if (thread_.joinable()) thread_.join();
        ::close(listener_);
    }

    std::string url(const std::string& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    const std::string& asked() {
        if (thread_.joinable()) thread_.join();
        return asked_;
    }

private:
    int listener_;
    std::uint16_t port_ = 0;
    std::string asked_;
    std::thread thread_;
};

bool write(int socket, std::string_view text) {
    return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size());
}
std::function<void(int)> says(std::string text) {
    return [text = std::move(text)](int socket) { write(socket, text); };
}

const Fetch& fetch() {
    static const Fetch it({.time = 500ms, .bytes = 4096}, "");
    return it;
}

TEST(Fetch, GetsAnAnswer) {
    OneAnswer server(says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more"));
    const auto answer = fetch().get(server.url("/a?b=c"), {{"Authorization", "Bearer x"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_THAT(server.asked(), testing::StartsWith("GET /a?b=c HTTP/1.1\r\n"));
    EXPECT_THAT(server.asked(), testing::HasSubstr("Authorization: Bearer x\r\n"));
    EXPECT_THAT(server.asked(), testing::HasSubstr("Host: 127.0.0.1:"));
}

TEST(Fetch, DoesNotFollowARedirect) {
    OneAnswer server(
        says("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
             "Content-Length: 0\r\n\r\n")
    );
    EXPECT_EQ(fetch().get(server.url()).status, 302);
}

TEST(Fetch, GivesUpInTimeHoweverItIsFed) {
    const std::vector<std::function<void(int)>> slow{
        [](int) { std::this_thread::sleep_for(900ms); },
        [](int socket) {
            while (write(socket, "H")) std::this_thread::sleep_for(50ms);
        },
        [](int socket) {
            write(socket, "HTTP/1.1 200 OK\r\n\r\n");
            while (write(socket, " ")) std::this_thread::sleep_for(50ms);
        },
        [](int socket) {
            write(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            while (write(socket, "1\r\n \r\n")) std::this_thread::sleep_for(50ms);
        }};
    for (const auto& each : slow) {
        OneAnswer server(each);
        const auto begun = Clock::now();
        EXPECT_THROW(fetch().get(server.url()), FetchError);
        EXPECT_LT(Clock::now() - begun, 1500ms);
    }
}

TEST(Fetch, TakesNoMoreThanItsLimit) {
    OneAnswer server([](int socket) {
        write(socket, "HTTP/1.1 200 OK\r\n\r\n");
        while (write(socket, std::string(65536, 'a'))) {
        }
    });
    EXPECT_THROW(fetch().get(server.url()), FetchError);
}

TEST(Fetch, WhatIsNoAnswerIsAnError) {
    for (const char* text : {"", "hello\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "SSH-2.0\r\n"}) {
        OneAnswer server(says(text));
        EXPECT_THROW(fetch().get(server.url()), FetchError) << text;
    }
    EXPECT_THROW(fetch().get("http://127.0.0.1:1/"), FetchError);
}

TEST(Fetch, HeadersAreLines) {
    EXPECT_THROW(fetch().get("http://127.0.0.1:1/", {{"A", "b\r\nC: d"}}), FetchError);
}

TEST(Fetch, AsksOnlyWhereItIsSafe) {
    for (const char* url :
         {"http://example.com/",
          "ftp://127.0.0.1/",
          "file:///etc/passwd",
          "javascript:alert(1)",
          "https://",
          "",
          "https://user:password@example.com/",
          "https://example.com/#part",
          "https://example.com/a b",
          "https://example.com/\r\nX: y",
          "http://127.0.0.1.example.com/"})
        EXPECT_THROW(Address::parse(url), FetchError) << url;
    const Address address = Address::parse("https://example.com/a?b=c");
    EXPECT_TRUE(address.secure);
    EXPECT_EQ(address.host, "example.com");
    EXPECT_EQ(address.port, 443);
    EXPECT_EQ(address.target, "/a?b=c");
    EXPECT_EQ(Address::parse("http://localhost:8080").target, "/");
}

}  // namespace
}  // namespace svc::test

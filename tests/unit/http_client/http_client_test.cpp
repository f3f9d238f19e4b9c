#include "modules/lib/http_client/http_client.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Takes one connection, and answers its request with whatever `serve` writes to the socket.
class OneAnswer {
public:
    explicit OneAnswer(std::function<void(int socket)> serve)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{
            .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}
        };
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

HttpAnswer get(
    const std::string& url, HttpRequest::Headers headers = {}, std::chrono::milliseconds time = 10s
) {
    const HttpClient client({.time = time, .most_bytes = 4096});
    return client.run({.to = WebAddress::parse(url), .headers = std::move(headers)});
}

TEST(HttpClients, GetsAnAnswer) {
    OneAnswer server(says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more"));
    const auto answer = get(server.url("/a?b=c"), {{"Authorization", "Bearer x"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_THAT(server.asked(), testing::StartsWith("GET /a?b=c HTTP/1.1\r\n"));
    EXPECT_THAT(server.asked(), testing::HasSubstr("Authorization: Bearer x\r\n"));
    EXPECT_THAT(server.asked(), testing::HasSubstr("Host: 127.0.0.1:"));
}

TEST(HttpClients, DoesNotFollowARedirect) {
    OneAnswer server(
        says("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
             "Content-Length: 0\r\n\r\n")
    );
    EXPECT_EQ(get(server.url()).status, 302);
}

TEST(HttpClients, GivesUpInTimeHoweverItIsFed) {
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
        }
    };
    for (const auto& each : slow) {
        OneAnswer server(each);
        const auto begun = Clock::now();
        EXPECT_THROW(get(server.url(), {}, 500ms), HttpError);
        EXPECT_LT(Clock::now() - begun, 10s);
    }
}

TEST(HttpClients, TakesNoMoreThanItsLimit) {
    OneAnswer server([](int socket) {
        write(socket, "HTTP/1.1 200 OK\r\n\r\n");
        while (write(socket, std::string(65536, 'a'))) {
        }
    });
    EXPECT_THROW(get(server.url()), HttpError);
}

TEST(HttpClients, WhatIsNoAnswerIsAnError) {
    for (const char* text : {"", "hello\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "SSH-2.0\r\n"}) {
        OneAnswer server(says(text));
        EXPECT_THROW(get(server.url()), HttpError) << text;
    }
    EXPECT_THROW(get("http://127.0.0.1:1/"), HttpError);
}

TEST(HttpClients, HeadersAreLines) {
    EXPECT_THROW(get("http://127.0.0.1:1/", {{"A", "b\r\nC: d"}}), HttpError);
}

TEST(HttpClients, AskOnlyWebAddresses) {
    for (const char* url :
         {"ftp://127.0.0.1/",
          "file:///etc/passwd",
          "javascript:alert(1)",
          "https://",
          "",
          "https://user:password@example.com/",
          "https://example.com/#part",
          "https://example.com/a b",
          "https://example.com/\r\nX: y"})
        EXPECT_THROW(WebAddress::parse(url), HttpError) << url;
    const auto address = WebAddress::parse("https://example.com/a?b=c");
    EXPECT_TRUE(address.secure);
    EXPECT_EQ(address.host, "example.com");
    EXPECT_EQ(address.port, 443);
    EXPECT_EQ(address.target, "/a?b=c");
    EXPECT_EQ(address.authority(), "example.com");
    EXPECT_EQ(WebAddress::parse("http://localhost:8080").target, "/");
    EXPECT_EQ(WebAddress::parse("https://example.com?b=c").target, "/?b=c");
    EXPECT_EQ(WebAddress::parse("https://example.com/a%2Fb/%41?c=%20").target, "/a%2Fb/%41?c=%20");
    EXPECT_EQ(WebAddress::parse("http://[::1]:8080/").authority(), "[::1]:8080");
}

TEST(HttpClients, AnAnswerThatBreaksOffIsNone) {
    for (const char* text :
         {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n"}) {
        OneAnswer server(says(text));
        EXPECT_THROW(get(server.url()), HttpError) << text;
    }
}

TEST(HttpClients, SendAndTakeBodiesPieceByPiece) {
    OneAnswer server(says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    const HttpClient client({.time = 10s, .most_bytes = 1});
    int pieces = 0;
    std::string taken;
    const auto answer = client.run(
        {.method = "PUT",
         .to = WebAddress::parse(server.url()),
         .source = [&]() -> std::string_view { return ++pieces <= 3 ? "abc" : ""; },
         .source_bytes = 9},
        [&](std::string_view bytes) { taken += bytes; }
    );
    EXPECT_EQ(taken, "hello");
    EXPECT_EQ(answer.body, "");
    EXPECT_THAT(server.asked(), testing::HasSubstr("Content-Length: 9\r\n"));
}

TEST(HttpClients, WhatTheCallersOwnFunctionsThrowGoesThrough) {
    struct Own {};
    OneAnswer server(says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    const HttpClient client({.time = 10s});
    EXPECT_THROW(
        client.run({.to = WebAddress::parse(server.url())}, [](std::string_view) { throw Own{}; }),
        Own
    );
}

TEST(AddressRulesTest, OnlyThePublicInternetIsForAddressesThatUsersName) {
    const auto rules = AddressRules::public_and({});
    for (const char* address :
         {"127.0.0.1",
          "127.255.255.254",
          "0.0.0.0",
          "10.0.0.1",
          "172.16.0.1",
          "172.31.255.255",
          "192.168.1.1",
          "169.254.169.254",
          "100.64.0.1",
          "100.127.255.255",
          "192.0.0.1",
          "198.18.0.1",
          "198.19.255.255",
          "224.0.0.1",
          "239.255.255.255",
          "255.255.255.255",
          "203.0.113.9",
          "::",
          "::1",
          "::ffff:127.0.0.1",
          "::ffff:10.0.0.1",
          "::ffff:8.8.8.8",
          "4000::1",
          "::127.0.0.1",
          "fe80::1",
          "fc00::1",
          "fd12::1",
          "ff02::1",
          "64:ff9b::7f00:1",
          "2002:7f00:1::",
          "2001::1",
          "2001:db8::1",
          "fec0::1"})
        EXPECT_FALSE(rules.allows(Poco::Net::IPAddress(address))) << address;
    for (const char* address :
         {"1.1.1.1",
          "8.8.8.8",
          "9.255.255.255",
          "11.0.0.0",
          "172.15.255.255",
          "172.32.0.0",
          "100.63.255.255",
          "100.128.0.0",
          "169.253.255.255",
          "223.255.255.255",
          "2606:4700::1111",
          "2a00:1450::1"})
        EXPECT_TRUE(rules.allows(Poco::Net::IPAddress(address))) << address;
}

TEST(AddressRulesTest, OperatorsAllowNetworksOfTheirOwn) {
    const auto rules = AddressRules::public_and({"10.1.0.0/16", "fd00:1::/32", "192.168.7.7"});
    for (const char* address : {"10.1.2.3", "fd00:1::5", "192.168.7.7", "::ffff:10.1.2.3"})
        EXPECT_TRUE(rules.allows(Poco::Net::IPAddress(address))) << address;
    for (const char* address : {"10.2.0.1", "fd00:2::5", "192.168.7.8"})
        EXPECT_FALSE(rules.allows(Poco::Net::IPAddress(address))) << address;
    for (const char* text : {"", "10.1.0.0/33", "10.1.0.0/", "10.1.0.0/x", "example.com", "::/129"})
        EXPECT_THROW(AddressRules::public_and({text}), std::runtime_error) << text;
    EXPECT_TRUE(AddressRules().allows(Poco::Net::IPAddress("127.0.0.1")));
}

// What is dialled is the address that was judged, whatever the name is called.
TEST(AddressRulesTest, NamesAreJudgedByTheAddressesTheyHave) {
    OneAnswer server(says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    const auto port = WebAddress::parse(server.url()).port;
    const WebAddress local{.secure = false, .host = "localhost", .port = port, .target = "/"};
    const HttpClient strict({.time = 10s, .rules = AddressRules::public_and({})});
    for (const char* host :
         {"localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "::1"}) {
        WebAddress each = local;
        each.host = host;
        EXPECT_THROW(strict.run({.to = each}), HttpError) << host;
    }
    const HttpClient open({.time = 10s, .rules = AddressRules::public_and({"127.0.0.0/8", "::1"})});
    EXPECT_EQ(open.run({.to = local}).status, 200);
}

}  // namespace
}  // namespace svc::test

// Servers that do not behave, and a loop that goes on.

#include "modules/lib/http_client/http_loop.hpp"
#include "modules/lib/http_client/answer_parser.hpp"

#include "tests/support/certificate.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/webhook_receiver.hpp"

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <future>

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

class HttpLoops : public testing::Test {
protected:
    using Future = std::future<HttpLoop::Outcome>;

    Future begin(HttpLoop& by, const std::string& url, const std::string& lane = "a") {
        auto promise = std::make_shared<std::promise<HttpLoop::Outcome>>();
        auto future = promise->get_future();
        by.post(
            {.to = WebAddress::parse(url),
             .headers = {{"X-Some", "thing"}},
             .body = std::make_shared<const std::string>("{\"hello\":\"you\"}"),
             .lane = lane,
             .group = "tests"},
            [promise](HttpLoop::Outcome outcome) { promise->set_value(std::move(outcome)); }
        );
        return future;
    }
    HttpLoop::Outcome post(const std::string& url) { return begin(loop, url).get(); }

    HttpLoop loop{HttpLoop::Settings{}};
    WebhookReceiver receiver;
};

TEST_F(HttpLoops, PostsAndKeepsTheConnectionForTheNextRequestOfTheLane) {
    for (int i = 0; i < 5; ++i) {
        const auto outcome = post(receiver.url("/a?b=c"));
        EXPECT_EQ(outcome.status, 200) << outcome.error;
        EXPECT_EQ(outcome.body, "ok");
    }
    EXPECT_EQ(receiver.connections(), 1);
    EXPECT_EQ(begin(loop, receiver.url(), "b").get().status, 200);
    EXPECT_EQ(receiver.connections(), 2) << "lanes share no connections";
    const auto received = receiver.at().front();
    EXPECT_EQ(received.path, "/a?b=c");
    EXPECT_EQ(received.header("x-some"), "thing");
    EXPECT_EQ(received.body, "{\"hello\":\"you\"}");
}

TEST_F(HttpLoops, AConnectionThatWasClosedMeanwhileIsReplaced) {
    receiver.answer("/", [](int socket, const Received&) {
        write_all(socket, http_answer(200));
        return false;
    });
    for (int i = 0; i < 10; ++i) EXPECT_EQ(post(receiver.url()).status, 200);
    EXPECT_EQ(receiver.count(), 10u) << "none was sent twice";
}

TEST_F(HttpLoops, TellWhatWentWrongInTime) {
    using Answer = WebhookReceiver::Answer;
    const auto says = [](std::string text, bool on = false) {
        return [text, on](int socket, const Received&) { return write_all(socket, text) && on; };
    };
    const auto drips = [this](std::string first, std::string drop) {
        return [this, first, drop](int socket, const Received&) {
            write_all(socket, first);
            while (!receiver.stopping() && write_all(socket, drop))
                std::this_thread::sleep_for(20ms);
            return false;
        };
    };
    const std::vector<std::tuple<std::string, Answer, int, std::string>> all{
        {"/hangs", drips("", ""), 0, "no answer in time"},
        {"/drips-head", drips("HTTP/1.1 200 OK\r\n", "X: y\r\n"), 0, "no answer in time"},
        {"/drips-status", drips("", "H"), 0, "no HTTP answer"},
        {"/long-head", says("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x')), 0, "no HTTP"},
        {"/endless-interim", drips("", "HTTP/1.1 103 Early\r\n\r\n"), 0, "no answer in time"},
        {"/closes", says(""), 0, "closed"},
        {"/ssh", says("SSH-2.0-OpenSSH\r\n", true), 0, "no HTTP answer"},
        {"/status", says("HTTP/1.1 999 No\r\n\r\n"), 0, "no HTTP answer"},
        {"/switches", says("HTTP/1.1 101 Switching\r\n\r\n", true), 0, "no HTTP answer"},
        {"/breaks", says("HTTP/1.1 200 OK\r\nContent-Le"), 0, "broke off"},
        {"/redirects",
         says(http_answer(302, "", "Location: http://127.0.0.1:1/\r\n"), true),
         302,
         ""},
        {"/refuses", says(http_answer(500), true), 500, ""},
        // The status is known; how the body goes on changes nothing.
        {"/streams", drips("HTTP/1.1 200 OK\r\n\r\n", std::string(4'000, 'z')), 200, ""},
        {"/chunks",
         drips("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
         200,
         ""},
        {"/bad-chunk", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), 200, ""
        },
        {"/short", says("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nabc"), 200, ""},
        {"/half-body", drips("HTTP/1.1 204 OK\r\nContent-Length: 90\r\n\r\n", ""), 204, ""},
        {"/huge", says("HTTP/1.1 200 OK\r\n\r\n" + std::string(3 << 20, 'a')), 200, ""},
        {"/smuggles", says(http_answer(200) + http_answer(500), true), 200, ""},
    };
    HttpLoop brisk({.time = 700ms});  // for what is to run out of time
    std::vector<Future> running;
    const auto begun = Clock::now();
    for (const auto& [path, answer, status, error] : all) {
        receiver.answer(path, answer);
        HttpLoop& by = error == "no answer in time" ? brisk : loop;
        running.push_back(begin(by, receiver.url(path), path));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [path, answer, status, error] = all[i];
        const auto outcome = running[i].get();
        EXPECT_EQ(outcome.status, status) << path << ": " << outcome.error;
        EXPECT_THAT(outcome.error, HasSubstr(error)) << path;
        if (status > 0) {
            EXPECT_EQ(outcome.error, "") << path;
        }
        EXPECT_LE(outcome.body.size(), 4096u) << path;
    }
    EXPECT_LT(Clock::now() - begun, 10s);
    // What came unasked for is no answer to the next request.
    EXPECT_EQ(begin(loop, receiver.url("/smuggles"), "/smuggles").get().status, 200);
}

TEST_F(HttpLoops, ResetConnectionsAndClosedPortsAreErrors) {
    receiver.answer("/", [](int socket, const Received&) {
        const linger now{1, 0};
        ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        ::shutdown(socket, SHUT_RD);
        return false;
    });
    EXPECT_NE(post(receiver.url()).error, "");
    EXPECT_THAT(post("http://127.0.0.1:1/").error, HasSubstr("cannot connect"));
    EXPECT_NE(post("http://no-such-host.invalid/").error, "");
}

TEST_F(HttpLoops, AThousandThatHangDelayNobody) {
    receiver.answer("/hang", [this](int, const Received&) {
        while (!receiver.stopping()) std::this_thread::sleep_for(20ms);
        return false;
    });
    HttpLoop patient({.time = 20s});
    std::vector<Future> hanging;
    for (int i = 0; i < 300; ++i)
        hanging.push_back(begin(patient, receiver.url("/hang"), "h" + std::to_string(i)));
    ASSERT_TRUE(eventually([&] { return receiver.count("/hang") == 300; }));
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(begin(patient, receiver.url("/fine"), "fine").get().status, 200);
    for (const auto& each : hanging)
        EXPECT_EQ(each.wait_for(0s), std::future_status::timeout) << "they hang still";
}

TEST_F(HttpLoops, ARequestIsLines) {
    const auto body = std::make_shared<const std::string>();
    EXPECT_THROW(
        loop.post(
            {.to = WebAddress::parse(receiver.url()), .headers = {{"A", "b\r\nC: d"}}, .body = body
            },
            [](auto) {}
        ),
        HttpError
    );
}

// Whatever a name is called: what it stands for is judged, and dialled.
TEST_F(HttpLoops, NamesOfThisMachineAreRefusedWhereOnlyTheInternetIsMeant) {
    HttpLoop strict({.rules = AddressRules::public_and({})});
    const std::string port = ":" + std::to_string(receiver.port()) + "/";
    for (const char* host : {"localhost", "127.0.0.1", "127.1", "0x7f000001", "[::1]"}) {
        const auto outcome = begin(strict, "http://" + std::string(host) + port, host).get();
        EXPECT_EQ(outcome.status, 0) << host;
        EXPECT_THAT(outcome.error, HasSubstr("not on the public internet")) << host;
    }
    EXPECT_EQ(receiver.connections(), 0);
}

TEST(AnswerParsers, TakeAnswersHoweverTheyAreCut) {
    const std::string text =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Slow down\r\nretry-after: 7\r\n"
        "Transfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\nT: u\r\n\r\n";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        AnswerParser parser{AnswerParser::Bounds{}};
        for (std::size_t at = 0; at < text.size(); at += size) parser.read(text.substr(at, size));
        EXPECT_EQ(parser.state(), AnswerParser::State::done) << size;
        EXPECT_EQ(parser.status(), 429);
        EXPECT_EQ(parser.retry_after(), 7s);
        EXPECT_EQ(parser.body(), "abc0123456789");
        EXPECT_TRUE(parser.reusable());
    }
}

std::optional<std::chrono::seconds> retry_after(const std::string& value) {
    AnswerParser parser{AnswerParser::Bounds{}};
    parser.read("HTTP/1.1 429 Slow down\r\nRetry-After: " + value + "\r\n\r\n");
    return parser.retry_after();
}

TEST(AnswerParsers, ReadRetryAfterAsATimeToo) {
    const std::time_t then = std::time(nullptr) + 600;
    for (const char* form :
         {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
        char text[64];
        std::strftime(text, sizeof text, form, std::gmtime(&then));
        const auto pause = retry_after(text);
        ASSERT_TRUE(pause) << text;
        EXPECT_LE(*pause, 600s) << text;
        EXPECT_GE(*pause, 590s) << text;
    }
    EXPECT_EQ(retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), 0s) << "it is over";
    EXPECT_EQ(retry_after("Fri, 31 Dec 9999 23:59:59 GMT"), 1'000'000s);
    for (const char* text : {"soon", "-7", "", "7s", "Thu, 01 Jan 1970 00:00:00 CET"})
        EXPECT_EQ(retry_after(text), std::nullopt) << text;
}

TEST(AnswerParsers, TakeANumberThatIsTooLargeForALongTime) {
    for (const char* text : {"1000001", "18446744073709551616", "99999999999999999999999999"})
        EXPECT_EQ(retry_after(text), 1'000'000s) << text;
    EXPECT_EQ(retry_after("007"), 7s);
}

TEST(AnswerParsers, ReuseNoConnectionWhoseAnswerHasNoCertainEnd) {
    for (const char* text :
         {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
          "HTTP/1.1 200 OK\r\nConnection: foo, close\r\nContent-Length: 1\r\n\r\na",
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"}) {
        AnswerParser parser{AnswerParser::Bounds{}};
        parser.read(text);
        parser.end();
        EXPECT_EQ(parser.state(), AnswerParser::State::done) << text;
        EXPECT_FALSE(parser.reusable()) << text;
    }
}

}  // namespace
}  // namespace svc::test

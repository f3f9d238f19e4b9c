// Peers that never stop talking.

#include "modules/lib/http_client/answer_parser.hpp"
#include "modules/lib/http_client/http_loop.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/webhook_receiver.hpp"

#include <gmock/gmock.h>

#include <future>

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Future = std::future<HttpLoop::Outcome>;

Future begin(HttpLoop& by, const std::string& url) {
    auto promise = std::make_shared<std::promise<HttpLoop::Outcome>>();
    auto future = promise->get_future();
    by.post(
        {.to = WebAddress::parse(url),
         .body = std::make_shared<const std::string>("{}"),
         .lane = url,
         .group = "tests"},
        [promise](HttpLoop::Outcome outcome) { promise->set_value(std::move(outcome)); }
    );
    return future;
}

TEST(HostilePeers, OneThatAsksForAHandshakeOverAndOverDelaysNobody) {
    HttpLoop loop({.connect_time = 30s, .time = 30s});
    WebhookReceiver receiver;
    // A record full of HelloRequest, which TLS takes no notice of during a handshake.
    std::string record("\x16\x03\x03\x40\x00", 5);
    record.append(16'384, '\0');
    std::atomic<std::size_t> sent{0};
    const Listener flood([&](int socket) {
        while (write_all(socket, record)) sent += record.size();
    });
    Future flooded = begin(loop, "https://127.0.0.1:" + flood.port() + "/");
    ASSERT_TRUE(eventually([&] { return sent > 128u << 10; }));
    for (int i = 0; i < 10; ++i) {
        Future fine = begin(loop, receiver.url());
        ASSERT_EQ(fine.wait_for(30s), std::future_status::ready) << i;
        EXPECT_EQ(fine.get().status, 200);
    }
    ASSERT_EQ(flooded.wait_for(30s), std::future_status::ready);
    EXPECT_THAT(flooded.get().error, testing::HasSubstr("sends too much"));
}

TEST(HostilePeers, ManyShortLinesAreReadInNoTime) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 1'000'000; ++i) head += "a\n";
    const auto begun = Clock::now();
    AnswerParser all_at_once(AnswerParser::Bounds{.head = 4 << 20});
    all_at_once.read(head);
    all_at_once.read("Content-Length: 0\r\n\r\n");
    EXPECT_EQ(all_at_once.state(), AnswerParser::State::done);
    // And one line, byte by byte.
    AnswerParser drop_by_drop(AnswerParser::Bounds{.head = 4 << 20});
    drop_by_drop.read("HTTP/1.1 200 OK\r\nX: ");
    for (int i = 0; i < 1'000'000; ++i) drop_by_drop.read("x");
    drop_by_drop.read("\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(drop_by_drop.state(), AnswerParser::State::done);
    EXPECT_LT(Clock::now() - begun, 10s);
}

}  // namespace
}  // namespace svc::test

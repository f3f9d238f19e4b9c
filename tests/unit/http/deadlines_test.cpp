#include "tests/unit/http/http_fixture.hpp"

/// What takes too long is ended, and holds nobody up while it lasts.
namespace svc::http::test {

namespace {

Settings quick() {
    Settings settings;
    settings.workers = 2;
    settings.head_deadline = 300ms;
    settings.body_deadline = 600ms;
    settings.idle_deadline = 900ms;
    settings.write_deadline = 400ms;
    return settings;
}

std::chrono::milliseconds time_to_end(Client& client, std::chrono::steady_clock::time_point begin) {
    EXPECT_TRUE(client.is_closed_within(20s));
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin
    );
}

/// Whether a round goes well. On a busy machine the pauses that it makes may come near the
/// deadline: then what goes wrong says nothing, and the round is tried again.
template <class Round>
bool goes_well(std::chrono::milliseconds deadline, Round round) {
    for (int tries = 0; tries < 3; ++tries) {
        auto last = std::chrono::steady_clock::now();
        std::chrono::steady_clock::duration longest{};
        const auto pause = [&](std::chrono::milliseconds time) {
            std::this_thread::sleep_for(time);
            const auto now = std::chrono::steady_clock::now();
            longest = std::max(longest, now - std::exchange(last, now));
        };
        if (round(pause)) return true;
        pause(0ms);  // counts what it waited for last
        if (longest < deadline / 2) return false;
    }
    return false;
}

}  // namespace

TEST(Deadlines, AHeadThatStopsIsA408) {
    HttpFixture fixture(quick());
    auto client = fixture.client();
    client.send("GET / HTTP/1.1\r\nHost:");
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 408);
    EXPECT_TRUE(client.is_closed_within(10s));
}

TEST(Deadlines, AHeadThatDripsIsNotGivenMoreTime) {
    HttpFixture fixture(quick());
    auto client = fixture.client();
    const auto begin = std::chrono::steady_clock::now();
    client.send("GET / HTTP/1.1\r\n");
    bool refused = false;
    while (!refused && std::chrono::steady_clock::now() - begin < 20s) {
        client.send("X");
        refused = client.sees("HTTP/1.1 408", 50ms);
    }
    EXPECT_TRUE(refused);
}

TEST(Deadlines, ABodyThatDripsIsA408) {
    HttpFixture fixture(quick());
    auto client = fixture.client();
    const auto begin = std::chrono::steady_clock::now();
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 900\r\n\r\n");
    bool refused = false;
    while (!refused && std::chrono::steady_clock::now() - begin < 20s) {
        client.send("x");
        refused = client.sees("HTTP/1.1 408", 50ms);
    }
    EXPECT_TRUE(refused);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 500ms) << "a body has its own deadline";
}

TEST(Deadlines, AnIdleConnectionIsClosedWithoutAWord) {
    HttpFixture fixture(quick());
    auto client = fixture.client();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(client.ask(get("/")));
    EXPECT_GE(time_to_end(client, begin), 700ms);
    EXPECT_EQ(client.seen(), "");
}

TEST(Deadlines, ANewConnectionThatSaysNothingIsClosed) {
    HttpFixture fixture(quick());
    const auto begin = std::chrono::steady_clock::now();
    auto client = fixture.client();
    EXPECT_GE(time_to_end(client, begin), 700ms);
    EXPECT_EQ(fixture.responder.served(), 0);
}

TEST(Deadlines, EveryRequestBeginsTheIdleTimeAnew) {
    HttpFixture fixture(quick());
    EXPECT_TRUE(goes_well(quick().idle_deadline, [&](const auto& pause) {
        auto client = fixture.client();
        for (int each = 0; each < 5; ++each) {
            if (!client.ask(get("/"))) return false;
            pause(400ms);
        }
        return true;
    }));
}

TEST(Deadlines, AnAnswerNobodyReadsIsGivenUp) {
    HttpFixture fixture(quick());
    auto client = fixture.client(4096);
    client.send(get("/big?20000000"));
    EXPECT_TRUE(eventually([&] { return fixture.responder.served() == 1; }));
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
}

TEST(Deadlines, AnAnswerReadSlowlyIsNotCutOff) {
    HttpFixture fixture(quick());
    EXPECT_TRUE(goes_well(quick().write_deadline, [&](const auto& pause) {
        auto client = fixture.client(32 << 10);
        client.send(get("/big?3000000"));
        std::size_t got = 0;
        char bytes[60'000];
        for (;;) {  // a second and more, with pauses shorter than the deadline
            const auto read = recv(client.socket(), bytes, sizeof bytes, 0);
            if (read <= 0) return false;
            got += static_cast<std::size_t>(read);
            if (got >= 3'000'000) return true;
            pause(20ms);
        }
    }));
}

TEST(Deadlines, AnAnswerReadAsSlowlyAsCanBeIsGivenUp) {
    auto settings = quick();
    settings.slowest_reader = 40'000'000;
    HttpFixture fixture(settings);
    auto client = fixture.client(4096);
    const auto begin = std::chrono::steady_clock::now();
    client.send(get("/big?20000000"));  // half a second for it, and the deadline
    char bytes[2048];
    while (recv(client.socket(), bytes, sizeof bytes, 0) > 0 &&
           std::chrono::steady_clock::now() - begin < 20s)
        std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, 700ms);
    EXPECT_LT(took, 10s);
}

TEST(Deadlines, ARequestThatRunsHasAllTheTimeItNeeds) {
    HttpFixture fixture(quick());
    auto client = fixture.client();
    const auto reply = client.ask(get("/sleep?1500"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
}

TEST(Deadlines, SlowHeadsHoldNoWorker) {
    Settings settings = quick();
    settings.head_deadline = 20s;
    HttpFixture fixture(settings);
    std::vector<Client> slow;
    for (int each = 0; each < 50; ++each) {
        slow.push_back(fixture.client());
        slow.back().send("GET / HTTP/1.1\r\nHost: te");
    }
    ASSERT_TRUE(eventually([&] { return fixture.load().connections == 50; }));
    for (int each = 0; each < 20; ++each) ASSERT_TRUE(fixture.answers());
    EXPECT_EQ(fixture.load().connections >= 50, true);
}

}  // namespace svc::http::test

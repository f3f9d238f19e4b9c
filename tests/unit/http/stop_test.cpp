#include "tests/unit/http/http_fixture.hpp"

/// How a server ends.
namespace svc::http::test {

namespace {

std::chrono::milliseconds time_to_stop(HttpFixture& fixture, std::chrono::milliseconds grace) {
    const auto begin = std::chrono::steady_clock::now();
    fixture.server().stop(grace);
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin
    );
}

}  // namespace

TEST(Stop, ARunningRequestIsAnsweredAndThenTheConnectionCloses) {
    HttpFixture fixture;
    auto idle = fixture.client();
    ASSERT_TRUE(idle.ask(get("/")));
    auto client = fixture.client();
    client.send(get("/held"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.served() == 2; }));
    std::thread stopping([&] { fixture.server().stop(10s); });
    EXPECT_TRUE(idle.is_closed_within(10s));  // by then it is stopping
    fixture.responder.let_go();
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->header("connection"), "close");
    EXPECT_TRUE(client.is_closed_within(5s));
    stopping.join();
}

TEST(Stop, IdleConnectionsAreClosedAtOnce) {
    HttpFixture fixture;
    std::vector<Client> clients;
    for (int each = 0; each < 50; ++each) {
        clients.push_back(fixture.client());
        ASSERT_TRUE(clients.back().ask(get("/")));
    }
    EXPECT_LT(time_to_stop(fixture, 10s), 3s);
    for (auto& each : clients) EXPECT_TRUE(each.is_closed_within(1s));
}

TEST(Stop, NobodyCanConnectAfterwards) {
    HttpFixture fixture;
    ASSERT_TRUE(fixture.answers());
    fixture.server().stop(1s);
    EXPECT_THROW(fixture.client(), std::runtime_error);
}

TEST(Stop, ParkedRequestsAreResumedAndAnswered) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/park?last"));
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
    EXPECT_LT(time_to_stop(fixture, 10s), 5s);
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "woken last");
}

TEST(Stop, AResumeAfterTheEndDoesNoHarm) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/park?late"));
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
    fixture.server().stop(5s);
    EXPECT_EQ(fixture.responder.wake_all(), 1u);
}

TEST(Stop, WhatRequestsKeepThatStayParkedEndsWhileAllOfThemAreThere) {
    HttpFixture fixture;
    std::vector<Client> clients;
    for (int each = 0; each < 3; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(get("/park-for-ever"));
    }
    ASSERT_TRUE(eventually([&] { return fixture.responder.kept == 3; }));
    fixture.server().stop(100ms);
    EXPECT_EQ(fixture.responder.kept, 0);
}

TEST(Stop, ARequestThatIsHalfHereIsToldToGoElsewhere) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n"
    );
    const auto go_on = client.read_reply();
    ASSERT_TRUE(go_on);
    EXPECT_EQ(go_on->status, 100) << "the head has been read";
    client.send("abc");
    std::thread stopping([&] { fixture.server().stop(10s); });
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 503);
    EXPECT_EQ(reply->header("retry-after"), "1");
    EXPECT_TRUE(client.is_closed_within(5s));
    stopping.join();
}

TEST(Stop, StreamsEnd) {
    HttpFixture fixture;
    std::atomic<int> ended{0};
    fixture.responder.on_stream = [&](const auto& stream) { on_end(*stream, [&] { ++ended; }); };
    auto client = fixture.client();
    client.send(get("/stream"));
    ASSERT_TRUE(eventually([&] { return fixture.load().streams == 1; }));
    fixture.server().stop(5s);
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(client.is_closed_within(1s));
}

TEST(Stop, GraceIsNotExceededByWhatDoesNotEnd) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/sleep?4000"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.served() == 1; }));
    EXPECT_LT(time_to_stop(fixture, 200ms), 3000ms);
}

TEST(Stop, AServerThatNeverStartedStops) {
    Responder responder;
    Server server({}, responder);
    server.stop(1s);
}

TEST(Start, AnAddressInUseIsNamed) {
    HttpFixture fixture;
    Responder responder;
    Settings settings;
    settings.port = fixture.server().port();
    Server second(settings, responder);
    try {
        second.start();
        FAIL() << "two servers on one port";
    } catch (const std::runtime_error& problem) {
        const std::string what = problem.what();
        EXPECT_NE(what.find("127.0.0.1"), std::string::npos) << what;
        EXPECT_NE(what.find(std::to_string(settings.port)), std::string::npos) << what;
    }
}

TEST(Start, ANameThatIsNoAddressIsNamed) {
    Responder responder;
    Settings settings;
    settings.address = "no such address";
    Server server(settings, responder);
    try {
        server.start();
        FAIL();
    } catch (const std::runtime_error& problem) {
        EXPECT_NE(std::string(problem.what()).find("no such address"), std::string::npos);
    }
}

}  // namespace svc::http::test

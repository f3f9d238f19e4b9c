#include "tests/unit/http/http_fixture.hpp"

#include <atomic>
#include <thread>

/// Requests that wait without a worker, and workers that are all taken.
namespace svc::http::test {

TEST(Parking, AParkedRequestHoldsNoWorkerAndIsAnsweredWhenResumed) {
    Settings settings;
    settings.workers = 1;
    HttpFixture fixture(settings);
    std::vector<Client> clients;
    for (int each = 0; each < 100; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(get("/park?" + std::to_string(each)));
    }
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 100; }));
    EXPECT_TRUE(fixture.answers());
    EXPECT_EQ(fixture.responder.wake_all(), 100u);
    for (int each = 0; each < 100; ++each) {
        const auto reply = clients[static_cast<std::size_t>(each)].read_reply();
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->body, "woken " + std::to_string(each));
    }
    EXPECT_TRUE(eventually([&] { return fixture.load().parked == 0; }));
}

TEST(Parking, AResumeMayOvertakeThePark) {
    HttpFixture fixture;
    auto client = fixture.client();
    for (int each = 0; each < 200; ++each)
        ASSERT_EQ(client.ask(get("/resumed-at-once"))->body, "overtaken");
    EXPECT_EQ(fixture.load().parked, 0u);
}

TEST(Parking, AConnectionGoesOnBehindAPark) {
    HttpFixture fixture;
    auto client = fixture.client();
    for (int each = 0; each < 20; ++each) {
        client.send(get("/park?again"));
        ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
        fixture.responder.wake_all();
        ASSERT_EQ(client.read_reply()->body, "woken again");
        ASSERT_EQ(client.ask(get("/"))->body, "hello");
    }
}

TEST(Parking, TheBodyOfAParkedRequestIsKept) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(
        "POST /park?q HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n0\r\n\r\n" +
        get("/")
    );
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
    fixture.responder.wake_all();
    EXPECT_EQ(client.read_reply()->body, "woken q");
    EXPECT_EQ(client.read_reply()->body, "hello");
}

TEST(Parking, APeerThatHangsUpIsAbandonedAndItsResumeDoesNoHarm) {
    HttpFixture fixture;
    {
        auto client = fixture.client();
        client.send(get("/park?gone"));
        ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
        EXPECT_FALSE(fixture.responder.any_abandoned());
    }
    EXPECT_TRUE(eventually([&] { return fixture.responder.any_abandoned(); }));
    const int served = fixture.responder.served();
    EXPECT_EQ(fixture.responder.wake_all(), 1u);
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
    EXPECT_EQ(fixture.responder.served(), served) << "it was served to nobody";
    EXPECT_TRUE(fixture.answers());
}

TEST(Parking, APeerThatSendsMoreIsNotAbandoned) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/park?here"));
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
    client.send(get("/"));
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(fixture.responder.any_abandoned());
    fixture.responder.wake_all();
    EXPECT_EQ(client.read_reply()->body, "woken here");
    EXPECT_EQ(client.read_reply()->body, "hello");
}

TEST(Queue, WhatFindsNoWorkerWaitsAndIsAnswered) {
    Settings settings;
    settings.workers = 2;
    HttpFixture fixture(settings);
    std::vector<Client> clients;
    for (int each = 0; each < 12; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(get("/sleep?100"));
    }
    for (auto& each : clients) {
        const auto reply = each.read_reply();
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->status, 200);
    }
    EXPECT_EQ(fixture.load().refused, 0u);
}

TEST(Queue, WhoeverComesWhileAnotherIsServedIsLetIn) {
    Settings settings;
    settings.workers = 2;
    std::atomic<int> unheard{0};
    const auto try_it = [&] {
        for (int round = 0; round < 100 && unheard == 0; ++round) {
            HttpFixture fixture(settings);
            std::vector<Client> clients;
            for (int each = 0; each < settings.workers; ++each) {
                clients.push_back(fixture.client());
                clients.back().send(get("/held"));
            }
            const auto all_served = [&] { return fixture.responder.served() == settings.workers; };
            if (!eventually(all_served, 5s)) ++unheard;
        }
    };
    std::vector<std::jthread> all;  // so that threads are woken late
    for (int each = 0; each < 8; ++each) all.emplace_back(try_it);
    all.clear();
    EXPECT_EQ(unheard, 0);
}

TEST(Queue, BeyondItsLimitRequestsAreToldToComeBack) {
    Settings settings;
    settings.workers = 2;
    settings.queue = 3;
    HttpFixture fixture(settings);
    std::vector<Client> clients;
    for (int each = 0; each < 2; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(get("/held"));
    }
    ASSERT_TRUE(eventually([&] { return fixture.responder.served() == 2; }));
    for (int each = 0; each < 10; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(post("/echo", "waits"));
    }
    ASSERT_TRUE(eventually([&] { return fixture.load().refused == 7; }));
    EXPECT_EQ(fixture.load().queued, 3u);
    fixture.responder.let_go();
    int answered = 0, refused = 0;
    for (auto& each : clients) {
        const auto reply = each.read_reply();
        ASSERT_TRUE(reply);
        if (reply->status == 200) ++answered;
        if (reply->status == 503) {
            ++refused;
            EXPECT_EQ(reply->header("retry-after"), "1");
            const auto again = each.ask(get("/"));  // the connection is as good as before
            ASSERT_TRUE(again);
            EXPECT_EQ(again->status, 200);
        }
    }
    EXPECT_EQ(answered, 5);
    EXPECT_EQ(refused, 7);
    EXPECT_EQ(fixture.load().queued, 0u);
}

TEST(Queue, WhatWaitsForNothingIsAnsweredWhileEveryWorkerIsBusy) {
    Settings settings;
    settings.workers = 2;
    settings.queue = 3;
    HttpFixture fixture(settings);
    std::vector<Client> clients;
    for (int each = 0; each < 10; ++each) {  // those behind the third in the queue are refused
        clients.push_back(fixture.client());
        clients.back().send(get("/held"));
        if (each == 1) {
            ASSERT_TRUE(eventually([&] { return fixture.responder.served() == 2; }));
        }
    }
    ASSERT_TRUE(eventually([&] { return fixture.load().refused == 5; }));
    auto client = fixture.client();
    for (int each = 0; each < 3; ++each) {
        client.send(get(Responder::at_once_path));
        const auto reply = client.read_reply();
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->body, "at once");
    }
    EXPECT_EQ(fixture.load().queued, 3u);
}

TEST(Queue, ConnectionsBeyondTheMostAreTurnedAway) {
    Settings settings;
    settings.max_connections = 5;
    HttpFixture fixture(settings);
    std::vector<Client> clients;
    for (int each = 0; each < 5; ++each) {
        clients.push_back(fixture.client());
        ASSERT_TRUE(clients.back().ask(get("/")));
    }
    auto one_more = fixture.client();
    const auto heard = one_more.read_to_end();
    EXPECT_EQ(heard.substr(0, 12), "HTTP/1.1 503");
    EXPECT_NE(heard.find("Retry-After: 1"), std::string::npos);
    clients.pop_back();
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 4; }));
    EXPECT_TRUE(fixture.answers());
}

}  // namespace svc::http::test

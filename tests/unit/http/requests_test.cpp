#include "tests/unit/http/http_fixture.hpp"

/// Good requests and the answers to them.
namespace svc::http::test {

TEST(Requests, AnAnswerHasDateLengthAndType) {
    HttpFixture fixture;
    const auto reply = fixture.client().ask(get("/"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status_line, "HTTP/1.1 200 OK");
    EXPECT_EQ(reply->body, "hello");
    EXPECT_EQ(reply->header("content-length"), "5");
    EXPECT_EQ(reply->header("content-type"), "text/plain");
    EXPECT_TRUE(reply->header("date").ends_with(" GMT"));
    EXPECT_EQ(reply->header("connection"), "");
}

TEST(Requests, AConnectionServesManyRequests) {
    HttpFixture fixture;
    auto client = fixture.client();
    for (int each = 0; each < 100; ++each) {
        const auto reply = client.ask(post("/echo", std::to_string(each)));
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->body, std::to_string(each));
    }
    EXPECT_EQ(fixture.load().accepted, 1u);
}

TEST(Requests, ARequestMayComeByteByByte) {
    HttpFixture fixture;
    auto client = fixture.client();
    for (const char each : post("/echo", "abc")) ASSERT_TRUE(client.send({&each, 1}));
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "abc");
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Requests, PipelinedRequestsAreAnsweredInOrder) {
    HttpFixture fixture;
    auto client = fixture.client();
    std::string all;
    constexpr int count = 3000;  // more than is read at once
    for (int each = 0; each < count; ++each) all += post("/echo", std::to_string(each));
    std::thread sender([&] { client.send(all); });
    for (int each = 0; each < count; ++each) {
        const auto reply = client.read_reply();
        ASSERT_TRUE(reply) << each;
        ASSERT_EQ(reply->body, std::to_string(each));
    }
    sender.join();
}

TEST(Requests, PipelinedRequestsWaitForAParkedOne) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/park?1") + get("/") + post("/echo", "third"));
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
    EXPECT_EQ(fixture.responder.served(), 1);
    EXPECT_EQ(fixture.responder.wake_all(), 1u);
    EXPECT_EQ(client.read_reply()->body, "woken 1");
    EXPECT_EQ(client.read_reply()->body, "hello");
    EXPECT_EQ(client.read_reply()->body, "third");
}

TEST(Requests, HeadGetsTheLengthWithoutTheBody) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask("HEAD /big?70000 HTTP/1.1\r\nHost: test\r\n\r\n", "HEAD");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->header("content-length"), "70000");
    const auto next = client.ask(get("/"));
    ASSERT_TRUE(next);
    EXPECT_EQ(next->body, "hello");
}

TEST(Requests, NoContentHasNoLength) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask(get("/empty"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 204);
    EXPECT_FALSE(reply->headers.contains("content-length"));
    EXPECT_FALSE(reply->headers.contains("content-type"));
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Requests, CloseIsAskedForAndDone) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask(get("/", "Connection: close\r\n"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->header("connection"), "close");
    EXPECT_TRUE(client.is_closed_within(5s));
}

TEST(Requests, WhatIsSentBehindACloseIsNoRequest) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/", "Connection: close\r\n") + get("/") + std::string(5000, 'x'));
    EXPECT_EQ(count_answers(client.read_to_end()), 1);
    EXPECT_EQ(fixture.responder.served(), 1);
}

TEST(Requests, Http10ClosesUnlessAskedToStay) {
    HttpFixture fixture;
    auto once = fixture.client();
    const auto reply = once.ask("GET / HTTP/1.0\r\n\r\n");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->header("connection"), "close");
    EXPECT_TRUE(once.is_closed_within(5s));

    auto stays = fixture.client();
    for (int each = 0; each < 3; ++each) {
        const auto kept = stays.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        ASSERT_TRUE(kept);
        EXPECT_EQ(kept->header("connection"), "keep-alive");
    }
}

TEST(Requests, ChunksAreJoined) {
    HttpFixture fixture;
    auto client = fixture.client();
    const std::string head =
        "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: Chunked\r\n\r\n";
    const auto reply =
        client.ask(head + "5\r\nhello\r\n1;name=\"v\"\r\n \r\n00a\r\n0123456789\r\n0\r\n\r\n");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "hello 0123456789");
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Requests, ChunksMayComeByteByByteWithARequestBehindThem) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto bytes =
        "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n" +
        get("/");
    for (const char each : bytes) ASSERT_TRUE(client.send({&each, 1}));
    EXPECT_EQ(client.read_reply()->body, "abc0123456789abcdef");
    EXPECT_EQ(client.read_reply()->body, "hello");
}

TEST(Requests, ALargeBodyArrivesWhole) {
    HttpFixture fixture;
    auto client = fixture.client();
    std::string body(Responder::most_large_body, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 23);
    std::thread sender([&] { client.send(post(Responder::large_path, body)); });
    const auto reply = client.read_reply();
    sender.join();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body == body, true);
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Requests, ALargeChunkedBodyArrivesWhole) {
    HttpFixture fixture;
    auto client = fixture.client();
    std::string sent,
        framed = "POST /large-echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int each = 0; each < 40'000; ++each) {
        const std::string piece = std::to_string(each) + std::string(each % 50, '.');
        char size[16];
        snprintf(size, sizeof size, "%zx\r\n", piece.size());
        framed += size + piece + "\r\n";
        sent += piece;
    }
    framed += "0\r\n\r\n";
    std::thread sender([&] { client.send(framed); });
    const auto reply = client.read_reply();
    sender.join();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body == sent, true);
}

TEST(Requests, ALargeAnswerReachesASlowReader) {
    HttpFixture fixture;
    auto client = fixture.client(4096);
    client.send(get("/big?5000000") + get("/shared") + get("/framed?5") + get("/"));
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(client.read_reply()->body.size(), 5'000'000u);
    EXPECT_EQ(client.read_reply()->body == *fixture.responder.shared, true);
    EXPECT_EQ(client.read_reply()->body == "<<<<<" + *fixture.responder.shared + ">>", true);
    EXPECT_EQ(client.read_reply()->body, "hello");
}

TEST(Requests, WhatAnswersShareComesBetweenTheirOwnWords) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto& shared = *fixture.responder.shared;
    for (const auto* size : {"0", "1", "20000"}) {
        const auto mine = std::string(std::stoul(size), '<');
        const auto path = "/framed?" + std::string(size);
        EXPECT_EQ(client.ask(get(path, "X-Test: small\r\n"))->body, mine + "small>>");
        EXPECT_EQ(client.ask(get(path))->body == mine + shared + ">>", true) << size;
        const auto bare = client.ask("HEAD " + path + " HTTP/1.1\r\nHost: test\r\n\r\n", "HEAD");
        EXPECT_EQ(bare->header("content-length"), std::to_string(mine.size() + shared.size() + 2));
    }
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Requests, ABodyIsAskedForWhenTheClientExpectsThat) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    );
    const auto go_on = client.read_reply();
    ASSERT_TRUE(go_on);
    EXPECT_EQ(go_on->status, 100);
    EXPECT_EQ(client.ask("abc")->body, "abc");
}

TEST(Requests, ABodyThatIsHereIsNotAskedFor) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask(
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc"
    );
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
}

TEST(Requests, ABodyTooLargeIsRefusedBeforeItIsSent) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask(
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n"
    );
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 413);
    EXPECT_TRUE(client.is_closed_within(5s));
}

TEST(Requests, ARefusalIsReadEvenByAClientThatGoesOnSending) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 900000\r\n\r\n");
    client.send(std::string(400'000, 'x'));
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 413);
}

TEST(Requests, ARefusalIsReadBehindABodyOfAnySize) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 20000000\r\n\r\n");
    for (int piece = 0; piece < 200; ++piece) client.send(std::string(100'000, 'x'));
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 413);
}

TEST(Requests, TheLimitOfTheRouteDecides) {
    HttpFixture fixture;
    auto client = fixture.client();
    EXPECT_EQ(client.ask(post("/echo", std::string(Responder::most_body, 'x')))->status, 200);
    EXPECT_EQ(client.ask(post("/echo", std::string(Responder::most_body + 1, 'x')))->status, 413);
}

TEST(Requests, AHandlerThatThrowsIsA500WithoutItsText) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask(get("/throw"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 500);
    EXPECT_EQ(reply->body.find("secret"), std::string::npos);
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Requests, AHeaderCannotBreakIntoTwo) {
    HttpFixture fixture;
    const auto reply = fixture.client().ask(get("/inject"));
    ASSERT_TRUE(reply);
    EXPECT_FALSE(reply->headers.contains("x-evil"));
    EXPECT_EQ(reply->header("x-name"), "a  X-Evil: b");
}

TEST(Requests, TheTargetIsCutAtTheFirstQuestionMark) {
    HttpFixture fixture;
    auto client = fixture.client();
    EXPECT_EQ(client.ask(get("/target?a=1?b"))->body, "/target|a=1?b");
    EXPECT_EQ(client.ask(get("/target?"))->body, "/target|");
    EXPECT_EQ(client.ask(get("/target"))->body, "/target|");
    EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n")->status, 200);
}

TEST(Requests, ATargetMayBeSentInAbsoluteForm) {
    HttpFixture fixture;
    const auto target = [&](std::string_view method, std::string_view sent, std::string_view host) {
        const auto reply = fixture.client().ask(
            std::string(method) + ' ' + std::string(sent) +
            " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"
        );
        return reply ? reply->body : "nothing";
    };
    EXPECT_EQ(target("GET", "http://test/target?a=b", "test"), "/target|a=b");
    EXPECT_EQ(target("GET", "HTTP://Test/target", "tEST"), "/target|");
    EXPECT_EQ(target("GET", "http://test:80/target", "test"), "/target|");
    EXPECT_EQ(target("GET", "http://test/target", "test:80"), "/target|");
    EXPECT_EQ(target("GET", "https://test:443/target", "test"), "/target|");
    EXPECT_EQ(target("GET", "http://[::1]:8080/target", "[::1]:8080"), "/target|");
    EXPECT_EQ(target("GET", "http://test/target?to=http://b/", "test"), "/target|to=http://b/");
    EXPECT_EQ(target("GET", "http://test", "test"), "hello");
    EXPECT_EQ(target("GET", "http://test?a", "test"), "hello");
}

TEST(Requests, BlanksAroundAValueAreNotPartOfIt) {
    HttpFixture fixture;
    auto client = fixture.client();
    EXPECT_EQ(client.ask(get("/header", "X-Test: \t a b \t\r\n"))->body, "a b");
    EXPECT_EQ(client.ask(get("/header", "x-TEST:tight\r\n"))->body, "tight");
    EXPECT_EQ(client.ask(get("/header", "X-Test:\r\n"))->body, "");
    EXPECT_EQ(client.ask(get("/header", "X-Test: na\xc3\xafve\r\n"))->body, "na\xc3\xafve");
}

TEST(Requests, ListHeadersSentSeveralTimesAreOneList) {
    HttpFixture fixture;
    const auto reply = fixture.client().ask(
        get("/list", "Accept: a/b\r\nX-Test: 1\r\nACCEPT: c/d;q=0.1\r\nAccept: e/f\r\n")
    );
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "a/b, c/d;q=0.1, e/f");
}

TEST(Requests, AHeadUpToTheLimitIsTaken) {
    HttpFixture fixture;
    auto client = fixture.client();
    const std::string frame = get("/header", "X-Test: \r\n");
    const std::size_t limit = 16 << 10;
    const std::string fits(limit - frame.size(), 'v');
    const auto reply = client.ask(get("/header", "X-Test: " + fits + "\r\n"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body.size(), fits.size());
    const auto refused = client.ask(get("/header", "X-Test: " + fits + "v\r\n"));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 431);
}

}  // namespace svc::http::test

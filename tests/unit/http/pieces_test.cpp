#include "tests/support/program.hpp"
#include "tests/unit/http/http_fixture.hpp"

#include <fcntl.h>

/// Bodies that are passed on as they come in, and answers that are files.
namespace svc::http::test {

namespace {

std::string varied(std::size_t size) {
    std::string out(size, ' ');
    std::uint32_t state = 1;
    for (char& each : out)
        each = static_cast<char>('a' + (state = state * 1103515245 + 12345) / 65536 % 26);
    return out;
}

std::shared_ptr<const FileBody> open_part(
    const std::filesystem::path& path, std::uint64_t offset, std::uint64_t size
) {
    return std::make_shared<const FileBody>(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC), offset, size
    );
}

}  // namespace

TEST(Pieces, ALargeBodyComesInPiecesAndWhole) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto body = varied(3 << 20);
    const auto reply = client.ask(post("/pieces", body));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, body);
    EXPECT_LE(std::stoul(reply->header("x-largest")), 64u << 10);
    EXPECT_EQ(reply->header("x-left"), "0");
    EXPECT_EQ(fixture.responder.sinks, 0);
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
}

TEST(Pieces, ABodyMayComeByteByByte) {
    HttpFixture fixture;
    auto client = fixture.client();
    for (const char each : post("/pieces", "abc")) ASSERT_TRUE(client.send({&each, 1}));
    EXPECT_EQ(client.read_reply()->body, "abc");
}

TEST(Pieces, WhatIsPipelinedBehindABodyIsTheNextRequest) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto body = varied(200'000);
    client.send(
        get("/") + post("/pieces", body) + post("/pieces", "second") + post("/echo", "third")
    );
    EXPECT_EQ(client.read_reply()->body, "hello");
    EXPECT_EQ(client.read_reply()->body, body);
    EXPECT_EQ(client.read_reply()->body, "second");
    EXPECT_EQ(client.read_reply()->body, "third");
}

TEST(Pieces, ManyBodiesComeInWhileEveryWorkerIsBusy) {
    HttpFixture fixture({.workers = 1});
    auto busy = fixture.client();
    busy.send(get("/sleep?500"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.served() == 1; }));
    const auto body = varied(100'000);
    std::vector<Client> clients;
    for (int each = 0; each < 5; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(post("/pieces", body));
    }
    for (auto& each : clients) {
        const auto reply = each.read_reply();
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->body, body);
    }
}

TEST(Pieces, WhoeverIsRefusedNeedNotSendTheBody) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(
        "POST /pieces?no HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
        "Expect: 100-continue\r\n\r\n"
    );
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 422);
    EXPECT_EQ(reply->header("connection"), "close");
}

TEST(Pieces, WhoeverWaitsForLeaveToSendGetsIt) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(
        "POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    );
    EXPECT_EQ(client.read_reply()->status, 100);
    client.send("hello");
    EXPECT_EQ(client.read_reply()->body, "hello");
}

TEST(Pieces, TheRestOfARefusedBodyIsNoRequest) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto smuggled = get("/echo");
    client.send(
        "POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: " +
        std::to_string(4 + smuggled.size()) + "\r\n\r\nstop"
    );
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 422);
    client.send(smuggled);
    EXPECT_EQ(client.read_to_end(3s), "");
    EXPECT_EQ(fixture.responder.served(), 1);
    EXPECT_EQ(fixture.responder.sinks, 0);
}

TEST(Pieces, ABodyWithoutALengthIsRefused) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send("POST /pieces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(client.read_reply()->status, 411);
}

TEST(Pieces, ARequestWithoutABodyHasNobodyToTakeIt) {
    HttpFixture fixture;
    EXPECT_EQ(fixture.client().ask(post("/pieces", ""))->body, "no body");
}

TEST(Pieces, ABodyBeyondTheRoutesLimitIsRefusedAtOnce) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send("POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n");
    EXPECT_EQ(client.read_reply()->status, 413);
}

TEST(Pieces, WhatTookAnUnfinishedBodyGoesWithTheConnection) {
    HttpFixture fixture;
    {
        auto client = fixture.client();
        client.send("POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf of");
        ASSERT_TRUE(eventually([&] { return fixture.responder.sinks == 1; }));
    }
    EXPECT_TRUE(eventually([&] { return fixture.responder.sinks == 0; }));
}

TEST(Pieces, ASlowBodyHasTimeInProportionToItsLength) {
    HttpFixture fixture({.body_deadline = 200ms, .slowest_body = 1000});
    auto brief = fixture.client();
    brief.send("POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1");
    auto lengthy = fixture.client();
    lengthy.send("POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n1");
    EXPECT_EQ(brief.read_reply()->status, 408);
    lengthy.send(std::string(3999, 'x'));
    EXPECT_EQ(lengthy.read_reply()->status, 200);
}

TEST(FileAnswers, AFileIsSentFromWhereItIsAsked) {
    const svc::test::TempFolder folder("file-answers");
    const auto path = folder.path() / "file";
    const auto text = varied(5 << 20);
    svc::test::write_file(path, text);
    HttpFixture fixture;
    fixture.responder.file = open_part(path, 0, text.size());
    auto client = fixture.client();
    EXPECT_EQ(client.ask(get("/file"))->body, text);
    fixture.responder.file = open_part(path, 1000, 2'000'000);
    EXPECT_EQ(client.ask(get("/file"))->body, text.substr(1000, 2'000'000));
    const auto head = client.ask("HEAD /file HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD");
    EXPECT_EQ(head->header("content-length"), "2000000");
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
    fixture.responder.file = open_part(path, 0, 0);
    EXPECT_EQ(client.ask(get("/file"))->body, "");
}

TEST(FileAnswers, AReaderMayTakeItsTime) {
    const svc::test::TempFolder folder("file-answers");
    const auto path = folder.path() / "file";
    const auto text = varied(8 << 20);
    svc::test::write_file(path, text);
    HttpFixture fixture;
    fixture.responder.file = open_part(path, 0, text.size());
    auto slow = fixture.client(8 << 10);
    slow.send(get("/file") + get("/"));
    EXPECT_TRUE(fixture.answers());
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(slow.read_reply()->body, text);
    EXPECT_EQ(slow.read_reply()->body, "hello");
}

TEST(FileAnswers, AFileThatBecameShorterEndsTheConnection) {
    const svc::test::TempFolder folder("file-answers");
    const auto path = folder.path() / "file";
    svc::test::write_file(path, "short");
    HttpFixture fixture;
    fixture.responder.file = open_part(path, 0, 1'000'000);
    auto client = fixture.client();
    client.send(get("/file"));
    EXPECT_TRUE(client.is_closed_within(5s));
    EXPECT_TRUE(fixture.answers());
}

}  // namespace svc::http::test

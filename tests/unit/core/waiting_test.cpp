#include "tests/unit/core/limits_fixture.hpp"

#include <poll.h>

/// What requests hold while they wait, and what answers may be.
namespace svc::test {
namespace {

using testing::HasSubstr;

class Waiting : public LimitsTest {
protected:
    Waiting() : LimitsTest({"server.waiting_mebibytes=1", "server.answer_mebibytes=1"}) {}

    struct Queue {
        std::string board, path;
    };
    Queue make_queue(Client& client) {
        const auto board = make_board(client);
        const json::value column{
            {"name", "To do"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}};
        const auto id =
            expect(201, client.post("/v1/boards/" + board + "/columns", column)).text("/id");
        return {board, "/v1/boards/" + board + "/columns/" + id + ":claim-next"};
    }
    static std::string claim(int seconds, std::size_t size) {
        std::string body = R"({"wait_seconds": )" + std::to_string(seconds);
        if (size > body.size() + 1) body.append(size - body.size() - 1, ' ');
        return body + '}';
    }
    static bool answered(const Connection& each) {
        pollfd event{.fd = each.fd(), .events = POLLIN, .revents = 0};
        return ::poll(&event, 1, 0) == 1;
    }
    /// Whether the last of so many is let wait; false once it is answered.
    bool waits_as(std::size_t count, const Connection& last) const {
        const auto until = Clock::now() + 10s;
        while (metric("http_parked_requests") < double(count)) {
            if (answered(last) || Clock::now() > until) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }
    static std::string answers(std::vector<Connection>& all) {
        std::string out;
        for (std::size_t at = 0; at < all.size(); ++at)
            if (answered(all[at]))
                out += std::to_string(at) + ": " + all[at].read("POST").body + '\n';
        return out;
    }
};

TEST_F(Waiting, ALargeRequestIsAnsweredAtOnce) {
    Client client = with_token(greedy);
    const auto queue = make_queue(client);
    auto begin = Clock::now();
    const auto large = client.post(queue.path, claim(30, 200'000));
    EXPECT_LT(since(begin), 5s);
    begin = Clock::now();
    const auto small = client.post(queue.path, claim(1, 0));
    EXPECT_GE(since(begin), 900ms);
    EXPECT_EQ(large.status, small.status);
    EXPECT_EQ(large.text("/card"), small.text("/card"));
}

TEST_F(Waiting, AllTogetherHoldNoMoreThanTheyMay) {
    Client client = with_token(greedy);
    const auto queue = make_queue(client);
    std::vector<Connection> waiting;
    // The first that finds no room is answered at once.
    do {
        waiting.emplace_back(server.port());
        waiting.back().write(client.request("POST", queue.path, claim(40, 15'000)));
    } while (waiting.size() < 100 && waits_as(waiting.size(), waiting.back()));
    ASSERT_GE(waiting.size(), 50) << answers(waiting);
    // Also while those who wait look again, which one of them does every second.
    for (const auto end = Clock::now() + 2500ms; Clock::now() < end;) {
        const auto begin = Clock::now();
        client.post(queue.path, claim(40, 15'000));
        ASSERT_LT(since(begin), 5s) << "there is no room left, so it does not wait";
    }
    EXPECT_LE(metric("http_parked_requests"), 1.05 * (1 << 20) / 15'000);
    expect(200, with_token(other).get("/v1/me"));
    waiting.clear();
    const auto until = Clock::now() + 10s;
    while (metric("http_parked_requests") > 0 && Clock::now() < until)
        std::this_thread::sleep_for(50ms);
    EXPECT_EQ(metric("http_parked_requests"), 0);
    const auto again = Clock::now();
    client.post(queue.path, claim(1, 0));
    EXPECT_GE(since(again), 900ms) << "what they held is free";
}

TEST_F(Waiting, AnAnswerThatIsTooLargeIsRefusedWithAReason) {
    Client client = with_token(greedy);
    const auto board = make_board(client);
    const auto column =
        expect(
            201, client.post("/v1/boards/" + board + "/columns", json::value{{"name", "All"}})
        ).text("/id");
    const auto card = expect(
                          201,
                          client.post(
                              "/v1/boards/" + board + "/cards",
                              json::value{{"column_id", column}, {"title", "Large"}}
                          )
    ).text("/id");
    std::string text;
    while (text.size() < 7000) text += "\xF0\x9F\x91\x8B";
    json::array children;
    for (int each = 0; each < 90; ++each)
        children.push_back(
            {{"type", "paragraph"},
             {"paragraph",
              {{"rich_text", json::array{{{"type", "text"}, {"text", {{"content", text}}}}}}}}}
        );
    const auto path = "/v1/blocks/" + card + "/children";
    const auto filled =
        client.send("PATCH", path, json::serialize(json::value{{"children", std::move(children)}}));
    EXPECT_EQ(filled.status, 413) << filled.body.substr(0, 500);
    EXPECT_EQ(filled.text("/code"), "request_too_large");
    EXPECT_EQ(filled.text("/additional_data/reason"), "answer_too_large");
    const auto list = expect(200, client.get(path));
    EXPECT_EQ(list.json().at("results").as_array().size(), 0u) << "it was not made";
}

TEST_F(Waiting, AnEmptyCursorIsWrongAsAnyOther) {
    Client client = with_token(greedy);
    for (const char* cursor : {"", "nonsense"}) {
        const auto reply =
            expect(422, client.get("/v1/boards?start_cursor=" + std::string(cursor)));
        EXPECT_EQ(reply.text("/detail/0/type"), "value_error");
        EXPECT_EQ(reply.json().at_pointer("/detail/0/loc/1"), "start_cursor");
    }
}

TEST_F(Waiting, TheDocumentOfTheInterfaceIsSentPacked) {
    const auto plain = server.client().get("/openapi.json");
    const auto packed =
        server.client().send("GET", "/openapi.json", {}, {{"Accept-Encoding", "gzip"}});
    EXPECT_EQ(plain.header("content-encoding"), "");
    EXPECT_EQ(packed.header("content-encoding"), "gzip");
    EXPECT_EQ(packed.header("vary"), "Accept-Encoding");
    EXPECT_LT(packed.body.size(), plain.body.size() / 4);
    EXPECT_EQ(packed.body.substr(0, 2), "\x1F\x8B");
}

TEST_F(Waiting, ABodyInAnotherCodingIs415) {
    Client client = with_token(greedy);
    const std::string body = R"({"name": "Board"})";
    const auto coded = client.post("/v1/boards", body, {{"Content-Encoding", "gzip"}});
    EXPECT_EQ(coded.status, 415);
    EXPECT_EQ(coded.text("/code"), "unsupported_media_type");
    const Headers latin{{"Content-Type", "application/json; charset=latin1"}};
    EXPECT_EQ(client.post("/v1/boards", body, latin).status, 415);
    EXPECT_EQ(client.post("/v1/boards", "null").status, 422);
}

TEST_F(Waiting, NamesAndTitlesAreOfOneLine) {
    Client client = with_token(greedy);
    for (const char* name : {"a\nb", "a\tb", "a\x1B[31mb", "a\x7F"})
        EXPECT_EQ(client.post("/v1/boards", json::value{{"name", name}}).status, 422);
    const auto board = make_board(client);
    const auto column =
        expect(
            201, client.post("/v1/boards/" + board + "/columns", json::value{{"name", "All"}})
        ).text("/id");
    const auto card = [&](const json::object& what) {
        json::object body = what;
        body["column_id"] = column;
        return client.post("/v1/boards/" + board + "/cards", json::value(body)).status;
    };
    EXPECT_EQ(card({{"title", "One\nTwo"}}), 422);
    EXPECT_EQ(card({{"title", "One"}, {"labels", json::array{"new\nlabel"}}}), 422);
    EXPECT_EQ(card({{"title", "One"}, {"labels", json::array{"new label"}}}), 201);
}

}  // namespace
}  // namespace svc::test

#include "tests/support/letters.hpp"
#include "tests/unit/live/live_fixture.hpp"

/// `GET /v1/sse`.
namespace svc::test {

namespace {

class Sse : public LiveTest {
protected:
    explicit Sse(std::vector<std::string> settings = {}) : LiveTest(std::move(settings)) {}
    std::unique_ptr<SseClient> follow(const std::string& query = "", const std::string& by = "") {
        auto stream = std::make_unique<SseClient>(server.port(), by.empty() ? token : by, query);
        EXPECT_EQ(stream->head.status, 200) << stream->head.status_line;
        return stream;
    }
    static std::string card_in(const std::optional<SseEvent>& event) {
        return event ? std::string(event->json().at("data").at("id").as_string()) : "none";
    }
};

TEST_F(Sse, AnEventComesAsItHappensWithItsSequenceAsItsId) {
    last_sequence();
    auto stream = follow("?board_id=" + board);
    EXPECT_EQ(stream->head.header("content-type"), "text/event-stream");
    EXPECT_EQ(stream->head.header("x-accel-buffering"), "no");
    ASSERT_TRUE(stream->is_attached());
    const auto card = make_card("New");
    const auto event = stream->next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->event, "card.created");
    EXPECT_EQ(card_in(event), card);
    EXPECT_EQ(event->id, std::to_string(event->json().at("sequence").as_int64()));
    const auto listed =
        expect(200, client.get("/v1/events?after=" + std::to_string(std::stoll(event->id) - 1)));
    EXPECT_NE(listed.body.find(event->data), std::string::npos) << "the same bytes";
}

TEST_F(Sse, GoesOnWhereTheLastOneEndedWithoutLossOrRepeat) {
    std::set<std::string> made, seen;
    std::string last;
    {
        auto stream = follow("?kinds=card.created");
        ASSERT_TRUE(stream->is_attached());
        for (int i = 0; i < 5; ++i) made.insert(make_card("Card"));
        for (int i = 0; i < 5; ++i) EXPECT_TRUE(seen.insert(card_in(stream->next())).second);
        last = stream->last_id;
    }
    for (int i = 0; i < 150; ++i) made.insert(make_card("Card"));
    SseClient again(
        server.port(),
        "/v1/sse?kinds=card.created",
        "Authorization: Bearer " + token + "\r\nLast-Event-ID: " + last + "\r\n",
        0
    );
    for (int i = 0; i < 150; ++i) EXPECT_TRUE(seen.insert(card_in(again.next())).second);
    const auto card = make_card("Live");
    made.insert(card);
    EXPECT_EQ(card_in(again.next()), card);
    seen.insert(card);
    EXPECT_EQ(seen, made);
}

TEST_F(Sse, WritesThatGoOnWhileItResumesAreNeitherLostNorRepeated) {
    make_card("First");
    std::atomic<bool> done{false};
    std::mutex mutex;
    std::vector<std::string> made;
    std::vector<std::thread> writers;
    for (int i = 0; i < 3; ++i)
        writers.emplace_back([&] {
            Client own = server.client();
            own.token(token);
            while (!done) {
                const auto reply = own.post(
                    "/v1/boards/" + board + "/cards",
                    json::value{{"column_id", columns[board]}, {"title", "Card"}}
                );
                if (reply.status == 503) continue;  // another writer was in the way
                const auto id = expect(201, reply).text("/id");
                const std::lock_guard lock(mutex);
                made.push_back(id);
            }
        });
    std::vector<std::string> seen;
    std::string last = "0";
    const auto end = std::chrono::steady_clock::now() + 2s;
    while (std::chrono::steady_clock::now() < end) {
        SseClient stream(
            server.port(),
            "/v1/sse?kinds=card.created",
            "Authorization: Bearer " + token + "\r\nLast-Event-ID: " + last + "\r\n",
            0
        );
        for (int i = 0; i < 40; ++i)
            if (const auto event = stream.next(200ms)) seen.push_back(card_in(event));
        last = stream.last_id;
    }
    done = true;
    for (auto& each : writers) each.join();
    SseClient rest(
        server.port(),
        "/v1/sse?kinds=card.created",
        "Authorization: Bearer " + token + "\r\nLast-Event-ID: " + last + "\r\n",
        0
    );
    std::set<std::string> once(seen.begin(), seen.end());
    // What is missing may take its time. When nothing is, whatever comes is repeated.
    while (const auto event = rest.next(once.size() <= made.size() ? 10s : 1s))
        once.insert(seen.emplace_back(card_in(event)));
    EXPECT_EQ(once.size(), seen.size()) << "repeated";
    EXPECT_EQ(once.size(), made.size() + 1) << "lost";
}

TEST_F(Sse, ASlowlyReadBacklogComesWhole) {
    constexpr int cards = 400;
    columns[board] = column_of(board);
    for (int i = 0; i < cards; ++i)
        expect(
            201,
            client.post(
                "/v1/boards/" + board + "/cards",
                json::value{
                    {"column_id", columns[board]}, {"title", "Card"}, {"markdown", letters(4'000)}}
            )
        );
    SseClient stream(server.port(), token, "?after=0&kinds=card.created,block.created");
    int seen = 0;
    while (seen < cards) {
        const auto event = stream.next(20s);
        ASSERT_TRUE(event) << seen;
        seen += event->event == "card.created";
    }
}

TEST_F(Sse, AReaderThatNeverReadsIsDroppedGoesOnLaterAndDisturbsNobody) {
    constexpr int cards = 40;
    const auto after = last_sequence();
    const auto bearer = "Authorization: Bearer " + token + "\r\n";
    SseClient deaf(server.port(), "/v1/sse?after=" + after, bearer, 4096);
    ASSERT_EQ(deaf.head.status, 200);
    auto steady = follow("?kinds=card.created&after=" + after);
    columns[board] = column_of(board);
    for (int i = 0; i < cards; ++i)
        expect(
            201,
            client.post(
                "/v1/boards/" + board + "/cards",
                json::value{
                    {"column_id", columns[board]}, {"title", "Card"}, {"markdown", letters(50'000)}}
            )
        );
    for (int i = 0; i < cards; ++i) ASSERT_TRUE(steady->next()) << i;
    deaf.last_id = after;
    int seen = 0;
    while (const auto event = deaf.next(5s)) seen += event->event == "card.created";
    EXPECT_TRUE(deaf.ends());
    EXPECT_LT(seen, cards) << "it was given more than may wait for a reader";
    SseClient again(
        server.port(), "/v1/sse", bearer + "Last-Event-ID: " + deaf.last_id + "\r\n", 0
    );
    while (seen < cards) {
        const auto event = again.next();
        ASSERT_TRUE(event) << seen;
        seen += event->event == "card.created";
    }
}

TEST_F(Sse, WhatTheCallerMayNotSeeIsNeverSentAndRightsCountAsTheyChange) {
    const auto hidden = make_board("Hidden", "private");
    const auto agent = make_agent("Robot");
    auto all = follow("?after=" + last_sequence(), agent.token);
    ASSERT_TRUE(all->is_attached());
    make_card("Secret", hidden);
    const auto open = make_card("Open");
    EXPECT_EQ(card_in(all->next()), open);

    expect(404, [&] {
        Client by = server.client();
        by.token(agent.token);
        return by.get("/v1/sse?board_id=" + hidden);
    }());
    expect(200, grant(agent.id, hidden));
    auto one = follow("?board_id=" + hidden + "&after=" + last_sequence(), agent.token);
    ASSERT_TRUE(one->is_attached());
    const auto second = make_card("Told", hidden);
    EXPECT_EQ(card_in(one->next()), second);
    EXPECT_EQ(card_in(all->next()), second) << "confined to that board by now";
    make_card("Closed");
    const auto third = make_card("Told", hidden);
    EXPECT_EQ(card_in(all->next()), third);
    EXPECT_EQ(card_in(one->next()), third);

    expect(204, client.send("DELETE", "/v1/boards/" + hidden + "/access-grants/" + agent.id));
    make_card("Secret again", hidden);
    EXPECT_TRUE(one->ends()) << "nothing on that board is the agent's to see";
    const auto fourth = make_card("Open again");
    EXPECT_EQ(card_in(all->next()), fourth);
}

TEST_F(Sse, ABoardThatBecomesPrivateIsSilentForOthers) {
    const auto agent = make_agent("Robot");
    const auto last = last_sequence();
    auto stream = follow("?after=" + last, agent.token);
    auto owner = follow("?after=" + last);
    ASSERT_TRUE(stream->is_attached());
    ASSERT_TRUE(owner->is_attached());
    const auto seen = make_card("Seen");
    EXPECT_EQ(card_in(stream->next()), seen);
    EXPECT_EQ(card_in(owner->next()), seen);
    expect(200, client.send("PATCH", "/v1/boards/" + board, R"({"visibility":"private"})"));
    make_card("Secret");
    EXPECT_EQ(owner->next()->event, "board.updated");
    EXPECT_EQ(owner->next()->event, "card.created");
    EXPECT_FALSE(stream->next(500ms));
    expect(200, client.send("PATCH", "/v1/boards/" + board, R"({"visibility":"org"})"));
    EXPECT_EQ(stream->next()->event, "board.updated");
}

TEST_F(Sse, WhoFollowsABoardHearsThatItIsDeletedAndRestored) {
    const auto agent = make_agent("Robot");
    auto stream = follow("?board_id=" + board + "&after=" + last_sequence(), agent.token);
    ASSERT_TRUE(stream->is_attached());
    expect(204, client.send("DELETE", "/v1/boards/" + board));
    const auto deleted = stream->next();
    ASSERT_TRUE(deleted);
    EXPECT_EQ(deleted->event, "board.deleted");
    expect(200, client.post("/v1/boards/" + board + ":restore"));
    const auto restored = stream->next();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->event, "board.restored");
}

TEST_F(Sse, ItEndsWithTheRightToReadIt) {
    const auto agent = make_agent("Robot");
    auto stream = follow("", agent.token);
    ASSERT_TRUE(stream->is_attached());
    expect(200, client.post("/v1/agents/" + agent.id + ":disable"));
    EXPECT_TRUE(stream->ends(10s)) << "everybody is asked about only every 30 seconds";
}

/// Pages of this site may use the session's cookie.
class SseOfOtherSites : public Sse {
protected:
    static constexpr const char* trusted = "https://boards.example.com";
    SseOfOtherSites() : Sse({std::string("live.allowed_origins=") + trusted}) {}

    std::string ticket() { return expect(200, client.post("/v1/ws-tickets")).text("/ticket"); }
    http::test::Reply open(
        const std::string& query, const std::string& origin, const std::string& more = ""
    ) {
        return SseClient(server.port(), "/v1/sse" + query, "Origin: " + origin + "\r\n" + more, 0)
            .head;
    }
};

TEST_F(SseOfOtherSites, WithATicketThePageOfAnySiteReadsTheStream) {
    const auto one = ticket();
    const auto opened = open("?ticket=" + one, "https://elsewhere.example.org");
    EXPECT_EQ(opened.status, 200);
    EXPECT_EQ(opened.header("access-control-allow-origin"), "*");
    EXPECT_EQ(opened.header("access-control-allow-credentials"), "");
    EXPECT_EQ(opened.header("vary"), "Origin");
    // It also reads why it is refused.
    const auto wrong = open("?kinds=no&ticket=" + ticket(), "https://elsewhere.example.org");
    EXPECT_EQ(wrong.status, 422);
    EXPECT_EQ(wrong.header("access-control-allow-origin"), "*");
    const auto used = open("?ticket=" + one, "https://elsewhere.example.org");
    EXPECT_EQ(used.status, 401);
    EXPECT_EQ(used.header("access-control-allow-origin"), "*");
}

TEST_F(SseOfOtherSites, APageThatIsTrustedReadsEveryRefusal) {
    const auto nobody = open("", trusted);
    EXPECT_EQ(nobody.status, 401);
    EXPECT_EQ(nobody.header("access-control-allow-origin"), trusted);
    const auto too_long = open("", trusted, "X-A: " + std::string(20 << 10, 'a') + "\r\n");
    EXPECT_EQ(too_long.status, 431);
    EXPECT_EQ(too_long.header("access-control-allow-origin"), trusted);
    const auto stranger = open("", "https://elsewhere.example.org");
    EXPECT_EQ(stranger.status, 401);
    EXPECT_EQ(stranger.header("access-control-allow-origin"), "");
    EXPECT_EQ(stranger.header("vary"), "Origin");
}

TEST_F(SseOfOtherSites, WithTheCookieOnlyThosePagesDoThatTheOperatorTrusts) {
    const std::string cookie = "Cookie: svc_session=" + client.cookie("svc_session") + "\r\n";
    const auto query = "?org_id=" + workspace.org_id;
    const auto theirs = open(query, trusted, cookie);
    EXPECT_EQ(theirs.status, 200);
    EXPECT_EQ(theirs.header("access-control-allow-origin"), trusted);
    EXPECT_EQ(theirs.header("access-control-allow-credentials"), "true");
    const auto others = open(query, "https://elsewhere.example.org", cookie);
    EXPECT_EQ(others.status, 403);
    EXPECT_EQ(others.header("access-control-allow-origin"), "");
}

TEST_F(SseOfOtherSites, WithATokenItIsForPrograms) {
    const auto opened =
        open("", "https://elsewhere.example.org", "Authorization: Bearer " + token + "\r\n");
    EXPECT_EQ(opened.status, 200);
    EXPECT_EQ(opened.header("access-control-allow-origin"), "");
}

TEST_F(Sse, RefusesWhatIsWrong) {
    Client by = server.client();
    by.token(token);
    for (const std::string query :
         {"board_id=no",
          "kinds=no",
          "kinds=",
          "kinds=card.*,",
          "after=-1",
          "after=0&after=1",
          "after=1x",
          "what=1",
          "after=%zz"})
        EXPECT_EQ(by.get("/v1/sse?" + query).status, 422) << query;
    EXPECT_EQ(by.send("GET", "/v1/sse", "", {{"Last-Event-ID", "nonsense"}}).status, 422);
    EXPECT_EQ(server.client().get("/v1/sse").status, 401);
    EXPECT_EQ(by.get("/v1/sse?board_id=" + new_uuid().str()).status, 404);
}

}  // namespace

}  // namespace svc::test

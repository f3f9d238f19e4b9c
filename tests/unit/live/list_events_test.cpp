#include "tests/unit/live/live_fixture.hpp"

/// `GET /v1/events`.
namespace svc::test {

namespace {

class ListEvents : public LiveTest {
protected:
    Client by(const std::string& whose) {
        Client made = server.client();
        made.token(whose);
        return made;
    }
    /// Kinds of all events from the first on, once this one is among them.
    static std::vector<std::string> kinds_of(const json::value& list) {
        std::vector<std::string> kinds;
        for (const auto& each : list.at("results").as_array())
            kinds.emplace_back(each.at("kind").as_string());
        return kinds;
    }
    /// All that the caller sees, page by page.
    std::vector<json::value> all(Client& reader, const std::string& query = "") {
        std::vector<json::value> events;
        for (std::int64_t after = 0;;) {
            const auto page =
                expect(200, reader.get("/v1/events?after=" + std::to_string(after) + query)).json();
            for (const auto& each : page.at("results").as_array()) events.push_back(each);
            after = page.at("sequence").as_int64();
            if (!page.at("has_more").as_bool()) return events;
        }
    }
    bool sees(Client& reader, const std::string& kind, const std::string& query = "") {
        return std::ranges::any_of(all(reader, query), [&](const auto& each) {
            return each.at("kind").as_string() == kind;
        });
    }
};

TEST_F(ListEvents, GivesWhatHappenedInItsOrderAndGoesOnWhereItEnded) {
    Client reader = by(token);
    make_card("One");
    ASSERT_TRUE(eventually([&] { return sees(reader, "card.created"); }));
    std::int64_t last = 0;
    for (const auto& each : all(reader, "&page_size=2")) {
        EXPECT_EQ(each.at("object").as_string(), "event");
        EXPECT_GT(each.at("sequence").as_int64(), last);
        last = each.at("sequence").as_int64();
    }
    const auto path = "/v1/events?after=" + std::to_string(last);
    EXPECT_TRUE(expect(200, reader.get(path)).json().at("results").as_array().empty());
    const auto card = make_card("Two");
    const auto more = expect(200, reader.get(path + "&wait_seconds=10")).json();
    EXPECT_EQ(more.at("results").at(0).at("data").at("id").as_string(), card);
    EXPECT_TRUE(more.at("gap_before").is_null());
}

TEST_F(ListEvents, WaitsForTheNextAndIsWokenByWhatPassesItsFilterAlone) {
    Client reader = by(token);
    make_card("Before");
    ASSERT_TRUE(eventually([&] { return sees(reader, "card.created"); }));
    const auto last = std::stoll(last_sequence());
    const auto path =
        "/v1/events?after=" + std::to_string(last) + "&kinds=column.*&wait_seconds=20";
    std::atomic<bool> answered{false};
    json::value answer;
    std::thread waiting([&] {
        Client own = by(token);
        answer = expect(200, own.get(path)).json();
        answered = true;
    });
    std::this_thread::sleep_for(300ms);
    make_card("Not this");
    std::this_thread::sleep_for(300ms);
    EXPECT_FALSE(answered);
    expect(201, client.post("/v1/boards/" + board + "/columns", json::value{{"name", "New"}}));
    waiting.join();
    ASSERT_EQ(answer.at("results").as_array().size(), 1u);
    EXPECT_EQ(answer.at("results").at(0).at("kind").as_string(), "column.created");
}

TEST_F(ListEvents, ASequenceThatWasNeverGivenIsAGap) {
    Client reader = by(token);
    ASSERT_TRUE(eventually([&] { return sees(reader, "board.created"); }));
    const auto last =
        expect(200, reader.get("/v1/events?after=0")).json().at("sequence").as_int64();
    for (const std::string after : {"1000000", "4611686018427387903"}) {
        const auto path = "/v1/events?wait_seconds=30&after=" + after;
        const auto page = expect(200, reader.get(path)).json();
        EXPECT_GE(page.at("sequence").as_int64(), last);
        EXPECT_EQ(page.at("gap_before").as_int64(), page.at("sequence").as_int64() + 1);
    }
}

TEST_F(ListEvents, AWaitThatIsOverAnswersWithNothing) {
    Client reader = by(token);
    ASSERT_TRUE(eventually([&] { return sees(reader, "board.created"); }));
    const auto last = std::stoll(last_sequence());
    const auto answer =
        expect(200, reader.get("/v1/events?after=" + std::to_string(last) + "&wait_seconds=1"))
            .json();
    EXPECT_TRUE(answer.at("results").as_array().empty());
    EXPECT_EQ(answer.at("sequence").as_int64(), last);
    EXPECT_FALSE(answer.at("has_more").as_bool());
}

TEST_F(ListEvents, HidesBoardsThatTheCallerDoesNotSee) {
    const auto hidden = make_board("Hidden", "private");
    make_card("Secret", hidden);
    make_card("Open");
    const auto agent = make_agent("Robot");
    Client reader = by(agent.token), owner = by(token);
    ASSERT_TRUE(eventually([&] { return sees(owner, "card.created", "&board_id=" + hidden); }));
    ASSERT_TRUE(eventually([&] { return sees(reader, "card.created"); }));
    for (const auto& each : all(reader))
        EXPECT_FALSE(each.at("board_id").is_string() && each.at("board_id").as_string() == hidden);
    expect(404, reader.get("/v1/events?board_id=" + hidden));
    expect(200, grant(agent.id, hidden));
    EXPECT_TRUE(sees(reader, "card.created", "&board_id=" + hidden));
    expect(404, reader.get("/v1/events?board_id=" + board));  // it is confined now
}

TEST_F(ListEvents, WhoWasLetInIsForAdminsAlone) {
    const auto agent = make_agent("Robot");
    const auto other = make_agent("Other");
    expect(200, grant(other.id, board));
    Client admin = by(token), member = by(make_token("member")), robot = by(agent.token);
    ASSERT_TRUE(eventually([&] { return sees(admin, "grant.created"); }));
    EXPECT_TRUE(sees(admin, "token.created"));
    for (Client* each : {&member, &robot}) {
        EXPECT_FALSE(sees(*each, "token.created"));
        EXPECT_TRUE(sees(*each, "agent.created"));
        EXPECT_TRUE(sees(*each, "board.created"));
    }
    EXPECT_FALSE(sees(robot, "grant.created"));
    EXPECT_TRUE(sees(member, "grant.created")) << "who made the board administers it";
}

TEST_F(ListEvents, RefusesWhatIsWrongAndNamesThePlace) {
    Client reader = by(token);
    for (const auto& [query, place] : std::vector<std::pair<std::string, std::string>>{
             {"after=-1", "after"},
             {"after=x", "after"},
             {"after=99999999999999999999", "after"},
             {"board_id=no", "board_id"},
             {"kinds=no", "kinds"},
             {"kinds=", "kinds"},
             {"wait_seconds=46", "wait_seconds"},
             {"page_size=0", "page_size"},
             {"page_size=101", "page_size"}
         }) {
        const auto reply = expect(422, reader.get("/v1/events?" + query));
        EXPECT_NE(reply.body.find(place), std::string::npos) << query << ": " << reply.body;
    }
    expect(401, server.client().get("/v1/events"));
}

TEST_F(ListEvents, AnotherWorkspaceSeesNothingOfThisOne) {
    make_card("Ours");
    auto theirs = make_workspace(server, "bob@example.com", "Others");
    Client stranger = by(theirs.mint("integration", "Stranger"));
    Client owner = by(token);
    ASSERT_TRUE(eventually([&] { return sees(owner, "card.created"); }));
    EXPECT_FALSE(sees(stranger, "card.created"));
    expect(404, stranger.get("/v1/events?board_id=" + board));
}

}  // namespace

}  // namespace svc::test

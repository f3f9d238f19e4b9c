// Claims and completions of one caller's workers that come at once: served together, answered each
// for itself.

#include "tests/unit/queue/together.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace svc::test {

namespace {

constexpr std::size_t workers = 12;

std::vector<Reply> claim_at_once(QueueFixture& s, std::size_t count, json::value body) {
    return at_once(
        s.client, s.database, std::vector<Sent>(count, {s.claim_path(), std::move(body)})
    );
}

}  // namespace

TEST(Together, ClaimsAreOfDifferentCardsAndRecordedUnderTheirOwnRequests) {
    QueueFixture s;
    for (std::size_t i = 0; i < workers; ++i) s.card();
    const auto before = together(s.server);
    const auto replies = claim_at_once(s, workers, json::object{});
    std::set<std::string> cards, tokens;
    for (const Reply& each : replies) {
        ASSERT_TRUE(expect(200, each).json().at("claimed").as_bool());
        cards.insert(each.text("/card/id"));
        tokens.insert(each.text("/lease_token"));
        EXPECT_EQ(each.text("/lease/card_id"), each.text("/card/id"));
        EXPECT_EQ(each.text("/card/lease/id"), each.text("/lease/id"));
    }
    EXPECT_EQ(cards.size(), workers);
    EXPECT_EQ(tokens.size(), workers);
    EXPECT_GE(together(s.server) - before, 5) << "they were served one by one";
    const auto actions = recorded(s, "claim_next_card", workers);
    for (const Reply& each : replies)
        EXPECT_EQ(actions.at(each.text("/lease/id")), each.header("x-request-id"));
}

TEST(Together, WhereThereAreFewerCardsTheOthersAreToldSoOrWait) {
    QueueFixture s;
    s.card();
    s.card();
    s.card();
    const auto replies = claim_at_once(s, workers, json::object{});
    std::size_t claimed = 0;
    for (const Reply& each : replies) {
        const auto answer = expect(200, each).json();
        if (answer.at("claimed").as_bool()) ++claimed;
        else EXPECT_EQ(each.text("/reason"), "empty");
    }
    EXPECT_EQ(claimed, 3U);

    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
        Client client = s.client;
        for (int i = 0; i < 4; ++i)
            expect(
                201,
                client.post(
                    "/v1/boards/" + s.board + "/cards",
                    json::value{{"column_id", s.queue}, {"title", "Late"}}
                )
            );
    });
    for (const Reply& each : claim_at_once(s, 4, json::object{{"wait_seconds", 20}}))
        EXPECT_TRUE(expect(200, each).json().at("claimed").as_bool());
    later.join();
}

TEST(Together, CompletionsAreAnsweredEachForItself) {
    QueueFixture s;
    const auto claims = claimed_cards(s, workers);
    std::vector<Sent> requests;
    for (std::size_t i = 0; i < workers; ++i)
        requests.push_back(completion(claims[i], {{"result", {{"number", i}}}}));
    requests[3].body.as_object()["lease_token"] = claims[4].text("/lease_token");
    requests[5].body.as_object()["comment"] = "Done by hand";
    requests[6].body.as_object()["target_column_id"] = s.board;  // no column
    requests.push_back(requests[7]);                             // the same lease again
    const auto before = together(s.server);
    const auto replies = at_once(s.client, s.database, requests);
    EXPECT_GE(together(s.server) - before, 4) << "they were served one by one";
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (i == 3) {
            EXPECT_EQ(expect(403, replies[i]).text("/code"), "lease_token_invalid");
        } else if (i == 6) {
            expect(422, replies[i]);
        } else {
            const auto& claim = claims[i == workers ? 7 : i];
            const auto number = static_cast<std::int64_t>(i == workers ? 7 : i);
            const auto answer = expect(200, replies[i]);
            EXPECT_EQ(answer.text("/lease/id"), claim.text("/lease/id"));
            EXPECT_EQ(answer.text("/lease/state"), "completed");
            EXPECT_EQ(answer.json().at_pointer("/lease/result/number").as_int64(), number);
            EXPECT_EQ(answer.text("/card/column_id"), s.done);
        }
    }
    const auto actions = recorded(s, "complete_lease", 2 * (workers - 2));  // of leases and cards
    for (const std::size_t i : {0U, 1U, 2U, 8U, 9U, 10U, 11U})
        for (const char* about : {"/lease/id", "/card/id"})
            EXPECT_EQ(actions.at(claims[i].text(about)), replies[i].header("x-request-id"));
    EXPECT_EQ(
        expect(200, s.client.get("/v1/leases/" + claims[6].text("/lease/id"))).text("/state"),
        "active"
    );
}

TEST(Together, WhatFailsForOneFailsForNobodyElse) {
    QueueFixture s;
    LockHolder(
        R"(CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'poison'; END $$;
           CREATE TRIGGER refuse_poison BEFORE INSERT ON lease_outcomes FOR EACH ROW
           WHEN (NEW.result::text LIKE '%poison%') EXECUTE FUNCTION refuse_poison())",
        s.database
    )
        .commit();
    std::vector<Sent> requests;
    for (std::size_t i = 0; i < workers; ++i) {
        s.card();
        const char* result = i + 1 == workers ? "poison" : "fine";
        requests.push_back(completion(s.claim(), {{"result", {{"text", result}}}}));
    }
    const auto replies = at_once(s.client, s.database, requests);
    for (std::size_t i = 0; i < replies.size(); ++i)
        EXPECT_EQ(replies[i].status, i + 1 == workers ? 500 : 200) << replies[i].body;
}

TEST(Together, AColumnThatTakesNoMoreRefusesWhoIsTooMany) {
    QueueFixture s;
    std::vector<Sent> requests;
    for (std::size_t i = 0; i < workers; ++i) {
        s.card();
        requests.push_back(completion(s.claim()));
    }
    expect(
        200,
        s.workspace.client.send(
            "PATCH",
            "/v1/boards/" + s.board + "/columns/" + s.done,
            R"({"wip_limit": 5, "wip_policy": "hard"})"
        )
    );
    std::map<int, int> statuses;
    for (const Reply& each : at_once(s.client, s.database, requests)) ++statuses[each.status];
    EXPECT_EQ(statuses, (std::map<int, int>{{200, 5}, {409, static_cast<int>(workers) - 5}}));
}

TEST(Together, AnAgentThatIsDisabledElsewhereClaimsNothing) {
    QueueFixture s;
    Server second({.database_url = s.database});
    for (std::size_t i = 0; i < workers; ++i) s.card();
    const auto secret = s.workspace.mint("agent", "Elsewhere");
    s.client = second.client();
    s.client.token(secret);
    const auto agent = expect(200, s.client.get("/v1/me")).text("/id");
    Client& owner = s.workspace.client;
    expect(200, owner.post("/v1/agents/" + agent + ":disable", json::value(json::object{})));
    for (const Reply& each : claim_at_once(s, workers, json::object{})) EXPECT_EQ(each.status, 401);
    const auto queue =
        expect(200, owner.get("/v1/boards/" + s.board + "/columns/" + s.queue + "/queue"));
    EXPECT_EQ(queue.json().at_pointer("/leased").as_int64(), 0) << queue.body;
}

}  // namespace svc::test

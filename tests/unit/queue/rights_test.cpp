// The end of a right to work, and what becomes of the leases that were held by it; on the real
// program.

#include "tests/unit/agents/agents_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class RightsToWork : public AgentsTest {
protected:
    RightsToWork() : queue(make_queue()) {}

    /// One card more, claimed by `by`.
    Reply take_one(Client& by) { return take_one(by, queue); }
    Reply take_one(Client& by, const Queue& from) {
        expect(201, add_card(ada, from));
        const auto claimed = expect(200, claim(by, from));
        EXPECT_EQ(claimed.text("/claimed"), "true") << claimed.body;
        return claimed;
    }
    std::string state_of(const Reply& claimed) {
        return expect(200, ada.get("/v1/leases/" + claimed.text("/lease/id"))).text("/state");
    }
    void expect_freed(const Reply& claimed) {
        EXPECT_EQ(state_of(claimed), "revoked");
        const auto card = expect(200, ada.get("/v1/cards/" + claimed.text("/card/id")));
        EXPECT_EQ(card.text("/queue/state"), "ready");
        EXPECT_EQ(card.text("/queue/attempts"), "0") << "nobody has failed";
        EXPECT_EQ(card.text("/lease"), "null");
    }
    Reply end(Client& by, const std::string& word, const Reply& claimed, json::object more = {}) {
        more["lease_token"] = claimed.text("/lease_token");
        return by.post(
            "/v1/leases/" + claimed.text("/lease/id") + ":" + word, json::value(std::move(more))
        );
    }
    Reply send_to_member(
        std::string_view method, Client& who, const json::value& body = json::object{}
    ) {
        const auto user = expect(200, who.get("/v1/me")).text("/id");
        return send(ada, method, "/v1/orgs/" + org + "/members/" + user, body);
    }
    Reply grant(const std::string& principal, const std::string& role, const Queue& on) {
        return send(
            ada, "PUT", "/v1/boards/" + on.board + "/access-grants/" + principal, {{"role", role}}
        );
    }
    Reply take_back_grant(const std::string& principal, const Queue& on) {
        return ada.send("DELETE", "/v1/boards/" + on.board + "/access-grants/" + principal);
    }
    Reply make_private(const Queue& which) {
        return send(ada, "PATCH", "/v1/boards/" + which.board, {{"visibility", "private"}});
    }
    std::string leases_of(const std::string& principal) {
        return ask(
            "SELECT count(*) FROM queue WHERE lease_id IS NOT NULL AND holder_id = '" +
            principal + "'"
        );
    }

    Queue queue;
};

TEST_F(RightsToWork, OfADisabledAgentAreOverWithItsLeasesAndNoOthers) {
    const auto agent = make_agent();
    Client robot = acting_as(agent), other = acting_as(make_agent());
    const auto lost = take_one(robot), kept = take_one(other);
    disable(agent);
    expect_freed(lost);
    EXPECT_EQ(state_of(kept), "active");
    EXPECT_TRUE(becomes("SELECT count(*) FROM events WHERE kind = 'lease.revoked'", "1"));
    expect(200, ada.post(path(agent, ":enable")));
    const auto refused = expect(409, end(robot, "complete", lost));
    EXPECT_EQ(refused.text("/code"), "lease_lost");
    EXPECT_EQ(refused.text("/additional_data/outcome"), "revoked");
}

TEST_F(RightsToWork, OfADeletedAgentAreOverWithItsLeases) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    const auto lost = take_one(robot);
    expect(204, ada.send("DELETE", path(agent)));
    expect_freed(lost);
}

TEST_F(RightsToWork, OfATokenEndWithThatTokenAlone) {
    const auto agent = make_agent();
    const auto first = make_token(agent), second = make_token(agent);
    Client by_first = with(first), by_second = with(second);
    const auto lost = take_one(by_first), kept = take_one(by_second);
    expect(204, ada.send("DELETE", "/v1/tokens/" + first.text("/id")));
    expect_freed(lost);
    EXPECT_EQ(state_of(kept), "active");
    expect(200, end(by_second, "complete", kept));
}

TEST_F(RightsToWork, OfAMemberEndWithTheSeat) {
    Client bob = member("bob@example.com", "member");
    Client program = client();
    const json::value wanted{{"kind", "integration"}, {"name", "Mine"}, {"role", "member"}};
    program.token(expect(201, bob.post("/v1/tokens", wanted)).text("/token"));
    const auto by_session = take_one(bob), by_token = take_one(program);
    expect(204, send_to_member("DELETE", bob));
    expect_freed(by_session);
    expect_freed(by_token);
}

TEST_F(RightsToWork, OfAMemberWhoMayOnlyLookAreOver) {
    Client bob = member("bob@example.com", "admin");
    const auto claimed = take_one(bob);
    expect(200, send_to_member("PATCH", bob, {{"role", "member"}}));
    EXPECT_EQ(state_of(claimed), "active") << "a member may work";
    expect(200, send_to_member("PATCH", bob, {{"role", "viewer"}}));
    expect_freed(claimed);
}

TEST_F(RightsToWork, OfAnAgentThatMayOnlyLookAreOver) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    const auto claimed = take_one(robot);
    expect(200, send(ada, "PATCH", path(agent), {{"description", "Packs"}}));
    EXPECT_EQ(state_of(claimed), "active");
    expect(200, send(ada, "PATCH", path(agent), {{"role", "viewer"}}));
    expect_freed(claimed);
}

TEST_F(RightsToWork, OfAnAgentEndWithWhatItWasGranted) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    const auto second = make_queue("Second");
    expect(200, make_private(queue));
    expect(200, grant(agent, "editor", queue));
    const auto lowered = take_one(robot);
    expect(200, grant(agent, "viewer", queue));
    expect_freed(lowered);
    expect(200, grant(agent, "editor", queue));
    const auto taken_back = take_one(robot);
    expect(204, take_back_grant(agent, queue));
    expect_freed(taken_back);
    const auto confined = take_one(robot, second);
    expect(200, grant(agent, "editor", queue));
    expect_freed(confined);
}

TEST_F(RightsToWork, OnABoardThatBecomesPrivateAreItsPeoplesAlone) {
    Client bob = member("bob@example.com", "member"), carl = member("carl@example.com", "member");
    expect(200, grant(expect(200, carl.get("/v1/me")).text("/id"), "editor", queue));
    const auto lost = take_one(bob), kept = take_one(carl);
    expect(200, make_private(queue));
    expect_freed(lost);
    EXPECT_EQ(state_of(kept), "active");
}

TEST_F(RightsToWork, LeaveNoLeaseOfAClaimThatWasUnderWay) {
    for (int i = 0; i < 60; ++i) expect(201, add_card(ada, queue));
    for (int round = 0; round < 4; ++round) {
        const auto agent = make_agent();
        const auto token = make_token(agent);
        std::atomic<int> claimed{0};
        at_once(6, [&](int number) {
            if (number == 0) {
                while (claimed < 3) std::this_thread::yield();
                expect(200, Client(ada).post(path(agent, ":disable")));
                EXPECT_EQ(leases_of(agent), "0");
                return 0;
            }
            Client robot = with(token);
            while (claim(robot, queue).status == 200) ++claimed;
            return 0;
        });
        EXPECT_EQ(leases_of(agent), "0");
        ask("UPDATE queue SET state = 'ready', available_at = NULL RETURNING card_id");
    }
}

TEST_F(RightsToWork, LeaveNoLeaseOfAPersonsClaimThatWasUnderWay) {
    for (int i = 0; i < 60; ++i) expect(201, add_card(ada, queue));
    Client bob = member("bob@example.com", "member");
    const auto user = expect(200, bob.get("/v1/me")).text("/id");
    std::atomic<int> claimed{0};
    at_once(6, [&](int number) {
        if (number == 0) {
            while (claimed < 3) std::this_thread::yield();
            expect(204, Client(ada).send("DELETE", "/v1/orgs/" + org + "/members/" + user));
            EXPECT_EQ(leases_of(user), "0");
            return 0;
        }
        Client own = bob;
        while (claim(own, queue).status == 200) ++claimed;
        return 0;
    });
    EXPECT_EQ(leases_of(user), "0");
}

// ---------------------------------------------------------------------- who is shown the card

/// As if the right had ended and nobody had looked at the leases yet.
class LostBoards : public RightsToWork {
protected:
    LostBoards() : robot(acting_as(agent)) {}
    void lose_board() {
        ask("UPDATE boards SET visibility = 'private' WHERE id = '" + queue.board + "' RETURNING id"
        );
    }
    void find_board_again() {
        ask("UPDATE boards SET visibility = 'org' WHERE id = '" + queue.board + "' RETURNING id");
    }

    std::string agent = make_agent();
    Client robot = client();
};

TEST_F(LostBoards, AreNotShownByTheEndOfALease) {
    for (const char* word : {"complete", "fail", "release"}) {
        const auto claimed = take_one(robot);
        lose_board();
        for (const char* time : {"first", "again"}) {
            const auto ended = expect(200, end(robot, word, claimed));
            EXPECT_EQ(ended.text("/card"), "null") << word << ' ' << time;
            EXPECT_NE(ended.text("/lease/state"), "active") << word << ' ' << time;
        }
        find_board_again();
        EXPECT_NE(expect(200, end(robot, word, claimed)).text("/card"), "null") << word;
        ask("DELETE FROM cards RETURNING id");
    }
}

TEST_F(LostBoards, AreNotShownByAnAnswerThatIsGivenAgain) {
    for (const char* word : {"complete", "fail", "release"}) {
        const auto claimed = take_one(robot);
        EXPECT_NE(expect(200, end(robot, word, claimed)).text("/card"), "null") << word;
        lose_board();
        EXPECT_EQ(expect(200, end(robot, word, claimed)).text("/card"), "null") << word;
        find_board_again();
        ask("DELETE FROM cards RETURNING id");
    }
}

// --------------------------------------------------------------------------------- comments

class CommentsOfWorkers : public RightsToWork {
protected:
    std::string comments_on(const Reply& claimed) {
        return expect(200, ada.get("/v1/comments?card_id=" + claimed.text("/card/id"))).body;
    }
};

TEST_F(CommentsOfWorkers, AreMadeWithTheCompletionAndOnce) {
    const auto agent = make_agent({{"name", "Packer"}});
    Client robot = acting_as(agent);
    const auto claimed = take_one(robot);
    const auto done = expect(200, end(robot, "complete", claimed, {{"comment", "**Packed**"}}));
    EXPECT_EQ(done.text("/card/comment_count"), "1");
    expect(200, end(robot, "complete", claimed, {{"comment", "**Packed**"}}));
    const auto listed = json::parse(comments_on(claimed));
    ASSERT_EQ(listed.at("results").as_array().size(), 1U);
    const auto& comment = listed.at("results").at(0);
    EXPECT_EQ(comment.at_pointer("/created_by/id").as_string(), agent);
    EXPECT_EQ(comment.at_pointer("/rich_text/0/plain_text").as_string(), "Packed");
    EXPECT_TRUE(comment.at_pointer("/rich_text/0/annotations/bold").as_bool());
    EXPECT_TRUE(becomes("SELECT count(*) FROM events WHERE kind = 'comment.created'", "1"));
}

TEST_F(CommentsOfWorkers, AreMadeOfThoseThatHaveSomeInACallForMany) {
    Client robot = acting_as(make_agent({{"name", "Packer"}}));
    std::vector<Reply> claimed;
    json::array leases;
    for (int i = 0; i < 4; ++i) {
        claimed.push_back(take_one(robot));
        leases.push_back({{"lease_token", claimed.back().text("/lease_token")}});
    }
    leases[0].as_object()["comment"] = "Packed";
    leases[2].as_object()["comment"] = "Nowhere";
    leases[2].as_object()["target_column_id"] = new_uuid().str();
    const auto batch =
        expect(200, robot.post("/v1/leases:complete", json::value{{"leases", leases}}));
    for (const auto& [index, status] : {std::pair(0, "200"), {1, "200"}, {2, "422"}, {3, "200"}})
        EXPECT_EQ(batch.text("/results/" + std::to_string(index) + "/status"), status) << index;
    EXPECT_EQ(
        batch.json().at_pointer("/results/2/error/detail/0/loc"),
        (json::value{"body", "leases", 2, "target_column_id"})
    );
    const auto count = [&](std::size_t i) {
        return json::parse(comments_on(claimed[i])).at("results").as_array().size();
    };
    EXPECT_EQ(count(0), 1U);
    EXPECT_EQ(count(1), 0U);
    EXPECT_EQ(count(2), 0U);
}

TEST_F(CommentsOfWorkers, ThatAreRefusedLeaveTheLease) {
    Client robot = acting_as(make_agent());
    const auto claimed = take_one(robot);
    const std::string stranger = std::string("[@Eve](user:") + nowhere + ")";
    for (const std::string& text : {std::string(), stranger, std::string(50'001, 'x')}) {
        const auto refused = end(robot, "complete", claimed, {{"comment", text}});
        EXPECT_EQ(refused.status, 422) << refused.body;
        EXPECT_EQ(state_of(claimed), "active");
    }
    EXPECT_EQ(json::parse(comments_on(claimed)).at("results").as_array().size(), 0U);
}

TEST_F(CommentsOfWorkers, DoNotOutliveACompletionThatIsRefused) {
    Client robot = acting_as(make_agent());
    const auto claimed = take_one(robot);
    const json::value full{
        {"name", "Full"}, {"kind", "active"}, {"wip_limit", 1}, {"wip_policy", "hard"}
    };
    const auto column =
        expect(201, ada.post("/v1/boards/" + queue.board + "/columns", full)).text("/id");
    expect(
        201,
        ada.post(
            "/v1/boards/" + queue.board + "/cards",
            json::value{{"column_id", column}, {"title", "There already"}}
        )
    );
    EXPECT_EQ(
        end(robot, "complete", claimed, {{"comment", "Done"}, {"target_column_id", column}}).status,
        409
    );
    EXPECT_EQ(json::parse(comments_on(claimed)).at("results").as_array().size(), 0U);
    EXPECT_EQ(state_of(claimed), "active");
}

// -------------------------------------------------------------------------------- queue columns

TEST_F(RightsToWork, ColumnsOfTheKindQueueAreQueuesUnlessToldOtherwise) {
    const auto enabled = [&](const json::value& column) {
        return expect(201, ada.post("/v1/boards/" + queue.board + "/columns", column))
            .text("/queue/enabled");
    };
    EXPECT_EQ(enabled({{"name", "A"}, {"kind", "queue"}}), "true");
    EXPECT_EQ(
        enabled({{"name", "B"}, {"kind", "queue"}, {"queue", {{"max_attempts", 3}}}}), "true"
    );
    EXPECT_EQ(
        enabled({{"name", "C"}, {"kind", "queue"}, {"queue", {{"enabled", false}}}}), "false"
    );
    EXPECT_EQ(
        enabled({{"name", "D"}, {"kind", "active"}, {"queue", {{"max_attempts", 3}}}}), "false"
    );
    EXPECT_EQ(enabled({{"name", "E"}, {"kind", "active"}, {"queue", {{"enabled", true}}}}), "true");
}

}  // namespace
}  // namespace svc::test

// What requests that are served together must not share: a lock that one of them waits for, a peer
// that is gone, a secret that was replaced, a charge, an entry in the record.

#include "tests/unit/queue/together.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

namespace svc::test {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t workers = 12;

/// A request that is sent and not yet answered.
Connection sent(QueueFixture& s, Client& by, const std::string& path, const json::value& body) {
    Connection connection(s.server.port(), 20s);
    connection.write(
        by.request("POST", path, json::serialize(body), {{"Content-Type", "application/json"}})
    );
    return connection;
}

/// Sends many requests while nothing can be written, of which all but the first two hang up; the
/// first is being served, the second leads the others. Statuses of those two.
std::vector<int> send_and_hang_up(
    QueueFixture& s, Client& by, const std::string& path, const json::value& body
) {
    LockHolder holder(hold_up_writes, s.database);
    std::deque<Connection> staying, leaving;
    staying.push_back(sent(s, by, path, body));
    eventually([&] { return holder.waiting() == 1; });
    staying.push_back(sent(s, by, path, body));
    std::this_thread::sleep_for(5ms);  // until it waits, as the first
    for (std::size_t i = 2; i < workers; ++i) leaving.push_back(sent(s, by, path, body));
    std::this_thread::sleep_for(15ms);  // until they do
    leaving.clear();
    holder.commit_when_more_wait_than(1);
    std::vector<int> statuses;
    for (Connection& each : staying) statuses.push_back(each.read("POST").status);
    return statuses;
}

/// Completes the leases of so many cards at once while some of them are locked: the others are
/// answered meanwhile, and these once they are free. A request waits 48 seconds for a lock, and a
/// client 20 for the answer.
void complete_with_some_held_up(std::size_t count, const std::vector<std::size_t>& held) {
    QueueFixture s({"database.statement_seconds=60"});
    const auto claims = claimed_cards(s, count);
    std::string cards;
    for (const std::size_t each : held)
        cards += (cards.empty() ? "'" : ", '") + claims[each].text("/card/id") + "'";
    LockHolder holder("SELECT FROM queue WHERE card_id IN (" + cards + ") FOR UPDATE", s.database);
    std::atomic<std::size_t> answered{0};
    std::vector<Reply> replies(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            Client client = s.client;
            const Sent sent = completion(claims[i]);
            replies[i] = client.post(sent.path, sent.body);
            ++answered;
        });
        if (i == 0) eventually([&] { return holder.waiting() == 1; });
    }
    EXPECT_TRUE(eventually([&] { return answered == count - held.size(); }, 15s))
        << answered << " were answered, and they wait for those whose cards are locked";
    holder.commit();
    for (auto& each : threads) each.join();
    for (const Reply& each : replies) EXPECT_EQ(each.text("/lease/state"), "completed");
}

std::int64_t leased(QueueFixture& s) {
    const auto path = "/v1/boards/" + s.board + "/columns/" + s.queue + "/queue";
    return expect(200, s.workspace.client.get(path)).json().at("leased").as_int64();
}

}  // namespace

TEST(TogetherApart, WhoIsHeldUpHoldsUpNobodyThoughNobodyElseComes) {
    complete_with_some_held_up(4, {0});
}

// The first makes the others come together, and one of these is held up as well.
TEST(TogetherApart, ALockThatOneOfThemWaitsForHoldsUpNobodyElse) {
    complete_with_some_held_up(8, {0, 4});
}

TEST(TogetherApart, NothingIsDoneForThoseWhoHungUpMeanwhile) {
    QueueFixture s;
    // Where the second begins to serve them before it is heard that they are gone, they were there.
    const auto nothing_was = [&] {
        for (std::size_t i = 0; i < workers; ++i) s.card();
        const auto before = leased(s);
        const auto statuses = send_and_hang_up(s, s.client, s.claim_path(), json::object{});
        EXPECT_EQ(statuses, (std::vector{200, 200}));
        return leased(s) - before == 2;
    };
    bool nothing = false;
    for (int tries = 0; tries < 5 && !nothing; ++tries) nothing = nothing_was();
    EXPECT_TRUE(nothing) << "cards are leased to nobody";
}

TEST(TogetherApart, WhatIsNotDoneForThemIsNotChargedToTheirAgent) {
    QueueFixture s;
    constexpr int most = 5;
    const std::string path = "/v1/boards/" + s.board + "/cards";
    const json::value card = {{"column_id", s.queue}, {"title", "Card"}};
    const auto left = [&] {
        Client client = s.server.client();
        Client& owner = s.workspace.client;
        // Made with its budget: what is given back soon after a budget was changed does not count.
        const json::value wanted = {{"name", "Budgeted"}, {"budgets", {{"daily_writes", most}}}};
        const auto agent = expect(201, owner.post("/v1/agents", wanted)).text("/id");
        const json::value key = {
            {"kind", "agent"}, {"name", "Key"}, {"role", "member"}, {"agent_id", agent}};
        client.token(expect(201, owner.post("/v1/tokens", key)).text("/token"));
        expect(200, client.get("/v1/me"));  // what it may do is known now
        const auto connections = [&] { return metric_of(s.server, "http_connections"); };
        const auto before = connections();
        const auto are_gone = [&] { return connections() <= before + 1; };
        LockHolder holder(hold_up_writes, s.database);
        Connection first = sent(s, client, path, card);
        std::this_thread::sleep_for(5ms);                            // until it is being served
        for (int i = 1; i < most; ++i) sent(s, client, path, card);  // hangs up
        // Unless one came so late that it is served by itself: then it waits for the lock as well.
        eventually(are_gone, 200ms);
        holder.commit();
        EXPECT_EQ(first.read("POST").status, 201);
        EXPECT_TRUE(eventually(are_gone));
        int more = 0;
        for (int i = 1; i < most; ++i) more += client.post(path, card).status == 201;
        return more;
    };
    int most_left = 0;
    for (int tries = 0; tries < 5 && most_left < most - 1; ++tries)
        most_left = std::max(most_left, left());
    EXPECT_EQ(most_left, most - 1) << "writes that nobody made were charged";
}

TEST(TogetherApart, ABudgetThatWasTakenAwayLetsNoneOfThemThrough) {
    QueueFixture s;
    const std::string path = "/v1/boards/" + s.board + "/cards";
    const json::value card = {{"column_id", s.queue}, {"title", "Card"}};
    expect(201, s.client.post(path, card));  // what it may do is known now
    const auto agent = expect(200, s.client.get("/v1/me")).text("/id");
    const char* none = R"({"budgets": {"daily_writes": 0}})";
    expect(200, s.workspace.client.send("PATCH", "/v1/agents/" + agent, none));
    for (const Reply& each :
         at_once(s.client, s.database, std::vector<Sent>(workers, {path, card})))
        EXPECT_EQ(each.status, 429) << each.body;
}

TEST(TogetherApart, AReplacedSecretIsGoodForNothingWhileItsSuccessorIsInUse) {
    QueueFixture s;
    const auto made = expect(
        201,
        s.workspace.client.post(
            "/v1/tokens",
            json::value{{"kind", "integration"}, {"name", "Rotated"}, {"role", "member"}}
        )
    );
    const std::string path = "/v1/boards/" + s.board + "/cards";
    const json::value card = {{"column_id", s.queue}, {"title", "Card"}};
    s.client = s.server.client();
    s.client.token(made.text("/token"));
    expect(201, s.client.post(path, card));  // who it stands for is known now
    const auto rotated =
        expect(200, s.workspace.client.post("/v1/tokens/" + made.text("/id") + ":rotate"));
    s.client.token(rotated.text("/token"));
    expect(201, s.client.post(path, card));
    std::vector<Sent> requests(workers, {path, card});
    for (const std::size_t each : {2U, 5U, 9U}) requests[each].token = made.text("/token");
    const auto before = together(s.server);
    const auto replies = at_once(s.client, s.database, requests);
    EXPECT_GE(together(s.server) - before, 4) << "they were served one by one";
    for (std::size_t i = 0; i < workers; ++i)
        EXPECT_EQ(replies[i].status, requests[i].token.empty() ? 201 : 401) << replies[i].body;
}

TEST(TogetherApart, WhatFollowsForOtherCardsIsRecordedUnderTheRequestItFollowsFrom) {
    QueueFixture s;
    const auto claims = claimed_cards(s, workers);
    std::vector<std::string> waiting;
    std::vector<Sent> requests;
    for (const Reply& each : claims) {
        const auto made = expect(
            201,
            s.post(
                "/v1/boards/" + s.board + "/cards",
                {{"column_id", s.queue},
                 {"title", "Waits"},
                 {"blocked_by", {each.text("/card/id")}}}
            )
        );
        waiting.push_back(made.text("/id"));
        requests.push_back(completion(each));
    }
    const auto before = together(s.server);
    const auto replies = at_once(s.client, s.database, requests);
    EXPECT_GE(together(s.server) - before, 4) << "they were served one by one";
    const auto actions = recorded(s, "complete_lease", 3 * workers);
    for (std::size_t i = 0; i < workers; ++i) {
        expect(200, replies[i]);
        ASSERT_TRUE(actions.contains(waiting[i]));
        EXPECT_EQ(actions.at(waiting[i]), replies[i].header("x-request-id"));
    }
}

}  // namespace svc::test

// Claiming and completing many cards by one call, on the real modules and database. Before the
// tests of hooks, which stay in the process: with one, cards are claimed one at a time.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>

namespace svc::test {

using boost::json::array;
using testing::Each;

namespace {

/// Claims of so many cards, one answer each.
std::vector<Answer> claims(BoardFixture& fixture, int count) {
    std::vector<Answer> out;
    for (int i = 0; i < count; ++i)
        fixture.card(fixture.queue, {{"title", "Card " + std::to_string(i)}});
    for (int i = 0; i < count; ++i) out.push_back(fixture.claim());
    return out;
}

/// The column takes no more cards than that.
void limit(const BoardFixture& fixture, const Uuid& column, int most) {
    in_process().must(
        fixture.owner,
        "update_column",
        {{"board_id", fixture.board.str()},
         {"column_id", column.str()},
         {"wip_limit", most},
         {"wip_policy", "hard"}}
    );
}

value tokens_of(const std::vector<Answer>& claims) {
    array leases;
    for (const Answer& each : claims)
        leases.push_back(boost::json::object{{"lease_token", each.text("/lease_token")}});
    return {{"leases", leases}};
}

std::vector<std::int64_t> statuses(const Answer& batch) {
    std::vector<std::int64_t> out;
    for (const value& each : batch.body.at("results").as_array())
        out.push_back(each.at("status").to_number<std::int64_t>());
    return out;
}

}  // namespace

TEST(ManyAtOnce, ClaimedHaveALeaseEachInTheOrderOfTheQueue) {
    BoardFixture fixture;
    for (int i = 1; i <= 8; ++i) fixture.card(fixture.queue, {{"title", std::to_string(i)}});
    in_process().forget_events();
    const Answer claim = fixture.claim(fixture.owner, {{"max_cards", 7}});
    EXPECT_EQ(claim.text("/card/title"), "1");
    const auto& further = claim.body.at("additional_claims").as_array();
    ASSERT_EQ(further.size(), 6u);
    std::set<std::string> tokens{claim.text("/lease_token")}, leases{claim.text("/lease/id")};
    for (std::size_t i = 0; i < further.size(); ++i) {
        const Answer each{200, further[i]};
        EXPECT_EQ(each.text("/card/title"), std::to_string(i + 2));
        EXPECT_EQ(each.text("/card/lease/id"), each.text("/lease/id"));
        EXPECT_EQ(each.body.at("card"), fixture.get(each.id("/card/id")).body);
        tokens.insert(each.text("/lease_token"));
        leases.insert(each.text("/lease/id"));
        EXPECT_EQ(say(fixture.owner, "complete_lease", each).status, 200);
    }
    EXPECT_EQ(tokens.size(), 7u);
    EXPECT_EQ(leases.size(), 7u);
    const auto kinds = in_process().emitted();
    EXPECT_EQ(std::ranges::count(kinds, "lease.claimed"), 7);
    EXPECT_EQ(claim_all(fixture), std::vector<std::string>{"8"});
}

TEST(ManyAtOnce, AreAsManyAsThereAre) {
    BoardFixture fixture;
    EXPECT_FALSE(fixture.claim(fixture.owner, {{"max_cards", 25}}).body.at("claimed").as_bool());
    for (int i = 1; i <= 3; ++i) fixture.card(fixture.queue);
    const Answer claim = fixture.claim(fixture.owner, {{"max_cards", 25}});
    EXPECT_TRUE(claim.body.at("claimed").as_bool());
    EXPECT_EQ(claim.body.at("additional_claims").as_array().size(), 2u);
    value wrong{{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}};
    for (const int count : {0, 26}) {
        wrong.as_object()["max_cards"] = count;
        EXPECT_EQ(in_process().ask(fixture.owner, "claim_next_card", wrong).status, 422) << count;
    }
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vera");
    wrong.as_object()["max_cards"] = 5;
    EXPECT_EQ(in_process().ask(viewer, "claim_next_card", wrong).status, 403);
}

TEST(ManyAtOnce, WithLongCardsEndWhereTheAnswerGetsLong) {
    BoardFixture fixture;
    const std::string long_text(2000, 'x');
    boost::json::object values;
    for (int i = 0; i < 7; ++i) {
        const std::string name = "Text " + std::to_string(i);
        in_process().must(
            fixture.owner,
            "create_property",
            {{"board_id", fixture.board.str()}, {"name", name}, {"type", "rich_text"}}
        );
        values[name] = long_text;
    }
    for (int i = 0; i < 20; ++i) fixture.card(fixture.queue, {{"properties", values}});
    std::size_t claims = 0, claimed = 0;
    for (Answer claim; claimed < 20; ++claims) {
        claim = fixture.claim(fixture.owner, {{"max_cards", 20}});
        ASSERT_TRUE(claim.body.at("claimed").as_bool()) << claimed;
        EXPECT_LT(boost::json::serialize(claim.body).size(), 1u << 20);
        claimed += 1 + claim.body.at("additional_claims").as_array().size();
    }
    EXPECT_GE(claims, 2u);
    EXPECT_LE(claims, 5u);
    EXPECT_EQ(claimed, 20u) << "none is lost";
}

TEST(CompleteLeases, CompletesEachAndMovesItsCard) {
    BoardFixture fixture;
    const auto held = claims(fixture, 25);
    in_process().forget_events();
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", tokens_of(held));
    ASSERT_EQ(batch.status, 200);
    EXPECT_EQ(batch.number("/succeeded_count"), 25);
    EXPECT_EQ(batch.number("/failed_count"), 0);
    EXPECT_THAT(statuses(batch), Each(200));
    for (std::size_t i = 0; i < held.size(); ++i) {
        const Answer each{200, batch.body.at("results").as_array()[i]};
        EXPECT_EQ(each.number("/index"), static_cast<std::int64_t>(i));
        EXPECT_EQ(each.text("/lease/id"), held[i].text("/lease/id")) << "in the order asked";
        EXPECT_EQ(each.text("/lease/state"), "completed");
        EXPECT_TRUE(each.body.at("error").is_null());
        EXPECT_EQ(fixture.get(held[i].id("/card/id")).text("/column_id"), fixture.done.str());
    }
    const auto kinds = in_process().emitted();
    EXPECT_EQ(std::ranges::count(kinds, "lease.completed"), 25);
    EXPECT_EQ(std::ranges::count(kinds, "card.moved"), 25);
    const Answer again = in_process().ask(fixture.owner, "complete_leases", tokens_of(held));
    EXPECT_EQ(again.body, batch.body);
    EXPECT_EQ(in_process().emitted(), kinds) << "nothing more was done";
}

TEST(CompleteLeases, EachIsRefusedByItself) {
    BoardFixture fixture;
    const auto held = claims(fixture, 5);
    EXPECT_EQ(say(fixture.owner, "fail_lease", held[1]).status, 200);
    value ask = tokens_of(held);
    array& leases = ask.as_object()["leases"].as_array();
    leases[2].as_object()["lease_token"] = "lt_of nothing";
    leases[3].as_object()["target_column_id"] = new_uuid().str();
    leases[4].as_object()["result"] = {{"found", 3}};
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", ask);
    ASSERT_EQ(batch.status, 200);
    EXPECT_THAT(statuses(batch), testing::ElementsAre(200, 409, 404, 422, 200));
    EXPECT_EQ(batch.number("/succeeded_count"), 2);
    EXPECT_EQ(batch.number("/failed_count"), 3);
    EXPECT_EQ(batch.text("/results/1/error/code"), "lease_lost");
    EXPECT_TRUE(batch.body.at_pointer("/results/1/lease").is_null());
    EXPECT_EQ(batch.number("/results/4/lease/result/found"), 3);
    EXPECT_EQ(say(fixture.owner, "renew_lease", held[3]).status, 200) << "as it was";
}

TEST(CompleteLeases, OfOneTokenTwiceTheSecondIsARepeat) {
    BoardFixture fixture;
    auto held = claims(fixture, 1);
    held.push_back(held.front());
    in_process().forget_events();
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", tokens_of(held));
    EXPECT_THAT(statuses(batch), Each(200));
    EXPECT_EQ(batch.body.at_pointer("/results/0/lease"), batch.body.at_pointer("/results/1/lease"));
    EXPECT_EQ(std::ranges::count(in_process().emitted(), "lease.completed"), 1);
}

TEST(CompleteLeases, AFullColumnTakesAsManyAsFit) {
    BoardFixture fixture;
    limit(fixture, fixture.done, 3);
    const auto held = claims(fixture, 5);
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", tokens_of(held));
    EXPECT_EQ(batch.number("/succeeded_count"), 3);
    const auto said = statuses(batch);
    EXPECT_EQ(std::ranges::count(said, 409), 2);
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM queue WHERE state = 'leased' AND board_id = '" +
            fixture.board.str() + "'"
        ),
        "2"
    );
}

TEST(CompleteLeases, NobodySeesAnotherWorkspace) {
    BoardFixture fixture, other;
    const auto held = claims(fixture, 2);
    const Answer batch = in_process().ask(other.owner, "complete_leases", tokens_of(held));
    EXPECT_EQ(batch.status, 200);
    EXPECT_THAT(statuses(batch), Each(404));
    EXPECT_EQ(batch.body.at_pointer("/results/0/error/code"), "object_not_found");
}

TEST(CompleteLeases, BetweenOneAndTwentyFive) {
    BoardFixture fixture;
    const auto ask = [&](const value& what) {
        return in_process().ask(fixture.owner, "complete_leases", what).status;
    };
    EXPECT_EQ(ask({{"leases", value(array())}}), 422);
    EXPECT_EQ(ask({{"leases", array(26, value{{"lease_token", "lt_x"}})}}), 422);
    EXPECT_EQ(ask(value(boost::json::object())), 422);
}

// Each call names the same leases in another order.
TEST(CompleteLeases, OfManyAtOnceEachIsCompletedOnce) {
    BoardFixture fixture;
    auto held = claims(fixture, 20);
    in_process().forget_events();
    std::vector<std::thread> threads;
    std::atomic<int> odd{0};
    for (int t = 0; t < 8; ++t) {
        std::ranges::rotate(held, held.begin() + 7);
        threads.emplace_back([&, ask = tokens_of(held)] {
            const Answer batch = in_process().ask(fixture.owner, "complete_leases", ask);
            if (batch.status != 200 || batch.number("/succeeded_count") != 20) ++odd;
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(odd, 0);
    EXPECT_EQ(std::ranges::count(in_process().emitted(), "lease.completed"), 20);
}

// Cards that wait for each of them, and a column with a hard limit, locked the other way round.
TEST(CompleteLeases, OfCardsThatOthersWaitForDoNotHoldEachOtherUp) {
    BoardFixture fixture;
    limit(fixture, fixture.done, 1000);
    for (int round = 0; round < 5; ++round) {
        const auto held = claims(fixture, 16);
        for (std::size_t i = 0; i < 8; ++i) {
            array blockers{value(held[i].text("/card/id")), value(held[15 - i].text("/card/id"))};
            fixture.card(fixture.backlog, {{"blocked_by", blockers}});
        }
        std::vector<std::thread> threads;
        std::atomic<int> completed{0}, refused{0};
        for (std::size_t t = 0; t < 4; ++t) {
            std::vector<Answer> mine;
            for (std::size_t i = t; i < held.size(); i += 4) mine.push_back(held[i]);
            threads.emplace_back([&, ask = tokens_of(mine)] {
                const Answer batch = in_process().ask(fixture.owner, "complete_leases", ask);
                if (batch.status != 200) ++refused;
                else completed += static_cast<int>(batch.number("/succeeded_count"));
            });
        }
        for (auto& each : threads) each.join();
        EXPECT_EQ(refused, 0);
        EXPECT_EQ(completed, 16);
    }
    EXPECT_EQ(
        in_process().run("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        ),
        "0"
    );
}

// The first that is done frees nobody yet, and who waits among those of the call is done itself.
TEST(CompleteLeases, OfCardsThatWaitForEachOtherTellOnceWhoIsFree) {
    BoardFixture fixture;
    const auto held = claims(fixture, 3);
    const auto wait = [&](const std::string& card, array blockers) {
        const value ask{{"card_id", card}, {"blocked_by", std::move(blockers)}};
        in_process().must(fixture.owner, "update_card", ask);
    };
    const value first(held[0].text("/card/id")), second(held[1].text("/card/id"));
    wait(held[1].text("/card/id"), array{first});
    const Uuid waiting = fixture.card(fixture.queue, {{"title", "Free at last"}}).id("/id");
    wait(waiting.str(), array{first, second});
    EXPECT_FALSE(fixture.claim().body.at("claimed").as_bool());
    in_process().forget_events();
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", tokens_of(held));
    EXPECT_THAT(statuses(batch), Each(200));
    EXPECT_EQ(std::ranges::count(in_process().emitted(), "card.unblocked"), 1);
    EXPECT_EQ(fixture.claim().text("/card/title"), "Free at last");
}

TEST(CompleteLeases, GivesTheCardsPlacesInTheOrderAsked) {
    BoardFixture fixture;
    auto held = claims(fixture, 6);
    std::ranges::reverse(held);
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", tokens_of(held));
    EXPECT_THAT(statuses(batch), Each(200));
    std::vector<std::int64_t> places;
    for (const Answer& each : held)
        places.push_back(fixture.get(each.id("/card/id")).number("/position"));
    EXPECT_TRUE(std::ranges::is_sorted(places));
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), places.size());
}

TEST(CompleteLeases, TokensAreNotSaidBack) {
    BoardFixture fixture;
    const Answer claim = claims(fixture, 1).front();
    const std::string token = claim.text("/lease_token");
    for (const value& wrong :
         {value{{"leases", {{"lease_token", token}}}},
          value{{"lease", value(array{value{{"lease_token", token}}})}}}) {
        const Answer refused = in_process().ask(fixture.owner, "complete_leases", wrong);
        EXPECT_EQ(refused.status, 422);
        EXPECT_EQ(boost::json::serialize(refused.body).find(token), std::string::npos);
    }
}

}  // namespace svc::test

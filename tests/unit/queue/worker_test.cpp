// What a worker says and is told while it holds a card: the lease that it names with its writes,
// what a renewal tells, what an attempt cost.

#include "tests/support/lock_holder.hpp"
#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace svc::test {

using boost::json::array;
using boost::json::object;
using testing::HasSubstr;

// --------------------------------------------------------------------------- the lease by name

TEST(NamedLease, IsAnArgumentOfWhatWritesToACard) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    const auto rename = [&](const std::string& title) {
        return in_process().ask(
            fixture.owner,
            "update_card",
            {{"card_id", claim.text("/card/id")},
             {"title", title},
             {"lease_token", claim.text("/lease_token")}}
        );
    };
    EXPECT_EQ(rename("mine").status, 200);
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
    const Answer late = rename("too late");
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(fixture.get(claim.id("/card/id")).text("/title"), "mine");
}

TEST(NamedLease, IsOfferedByEveryToolThatWritesToACardOrWhatIsOnIt) {
    std::vector<std::string> named;
    for (const Declared& each : in_process().kernel().operations())
        if (in_process().kernel().tool_schema(*each.operation).find("\"lease_token\"") !=
            std::string::npos)
            named.emplace_back(each.operation->name);
    for (const char* wanted :
         {"update_card",
          "move_card",
          "archive_card",
          "restore_card",
          "delete_card",
          "revert_card",
          "batch_cards",
          "complete_lease",
          "renew_lease"})
        EXPECT_THAT(named, testing::Contains(wanted));
    EXPECT_THAT(named, testing::Not(testing::Contains("create_board")));
}

TEST(NamedLease, ThatIsNoTextIsRefusedWithoutSayingItBack) {
    BoardFixture fixture;
    const auto card = fixture.card(fixture.queue).text("/id");
    for (const value& wrong : {value(7), value(std::string(200, 'x')), value("")}) {
        const Answer refused = in_process().ask(
            fixture.owner,
            "update_card",
            {{"card_id", card}, {"title", "x"}, {"lease_token", wrong}}
        );
        EXPECT_EQ(refused.status, 422) << boost::json::serialize(wrong);
        EXPECT_THAT(boost::json::serialize(refused.body), testing::Not(HasSubstr("xxx")));
    }
}

// ------------------------------------------------------------------------------------ renewing

TEST(RenewSignals, TellWhatHasChangedSinceTheClaim) {
    BoardFixture fixture;
    const auto card = fixture.card(fixture.queue).text("/id");
    const Answer claim = fixture.claim();
    const auto signals = [&] {
        const Answer renewed = say(fixture.owner, "renew_lease", claim);
        EXPECT_EQ(renewed.status, 200);
        EXPECT_FALSE(renewed.body.as_object().contains("card")) << "the answer is slim";
        return renewed.body.at("signals").as_object();
    };
    EXPECT_EQ(
        signals(),
        (object{
            {"stop", false},
            {"column_paused", false},
            {"card_changed", false},
            {"card_version", claim.number("/card/version")},
            {"new_comment_count", 0}
        })
    );
    in_process().must(fixture.owner, "update_card", {{"card_id", card}, {"title", "Other"}});
    EXPECT_TRUE(signals().at("card_changed").as_bool());
    EXPECT_EQ(
        signals().at("card_version").to_number<std::int64_t>(), claim.number("/card/version") + 1
    );
    in_process().run("UPDATE cards SET comment_count = 2 WHERE id = '" + card + "'");
    EXPECT_EQ(signals().at("new_comment_count").to_number<int>(), 2);
    EXPECT_EQ(say(fixture.owner, "release_lease", claim).status, 200);
    const Answer next = fixture.claim();
    EXPECT_FALSE(
        say(fixture.owner, "renew_lease", next).body.at_pointer("/signals/card_changed").as_bool()
    ) << "since this claim";
}

// ---------------------------------------------------------------------------------- the ledger

TEST(Attempts, ShowWhatTheyCostToTheNextClaimant) {
    BoardFixture fixture({{"enabled", true}, {"backoff_seconds", 0}});
    const auto card = fixture.card(fixture.queue).text("/id");
    const object cost{
        {"amount", 0.25},
        {"currency", "USD"},
        {"input_tokens", 12'000},
        {"output_tokens", 800},
        {"model", "small-1"}
    };
    const Answer failed =
        say(fixture.owner, "fail_lease", fixture.claim(), {{"error", "No"}, {"cost", cost}});
    EXPECT_EQ(failed.body.at_pointer("/lease/cost"), cost);
    const Answer second = fixture.claim();
    const Answer context =
        in_process().must(fixture.owner, "get_card_context", {{"card_id", card}});
    EXPECT_THAT(context.text("/markdown"), HasSubstr("small-1"));
    const Answer done = say(fixture.owner, "complete_lease", second, {{"cost", {{"amount", 1.5}}}});
    EXPECT_EQ(done.status, 200);
    const Answer listed = in_process().must(fixture.owner, "list_leases", {{"card_id", card}});
    EXPECT_EQ(listed.text("/results/0/state"), "completed");
    EXPECT_EQ(listed.body.at_pointer("/results/0/cost/amount").to_number<double>(), 1.5);
    EXPECT_EQ(listed.body.at_pointer("/results/1/cost"), cost);
    EXPECT_EQ(listed.text("/results/1/error"), "No");
    EXPECT_EQ(listed.text("/results/1/holder/id"), fixture.owner.id.str());
    EXPECT_TRUE(listed.body.at_pointer("/results/1/ended_at").is_string());
}

// ----------------------------------------------------------------------- refusals, and repeats

TEST(CompleteLeases, SayWhichOfThemIsWrong) {
    BoardFixture fixture;
    array leases;
    for (int i = 0; i < 2; ++i) fixture.card(fixture.queue);
    for (int i = 0; i < 2; ++i)
        leases.push_back(object{{"lease_token", fixture.claim().text("/lease_token")}});
    leases[1].as_object()["result"] = {{"text", std::string(70'000, 'x')}};
    const Answer batch = in_process().ask(fixture.owner, "complete_leases", {{"leases", leases}});
    EXPECT_EQ(batch.number("/results/0/status"), 200);
    EXPECT_EQ(
        batch.body.at_pointer("/results/1/error/detail/0/loc"),
        (value{"arguments", "leases", 1, "result"})
    );
}

// The first request has ended the lease, and is not committed yet when the second one looks.
TEST(Endings, ARepeatThatRacesItsFirstIsAnsweredWithoutTheRightToEdit) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Caller robot = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    in_process().grant(fixture.board, robot, "editor");
    const Answer claim = fixture.claim(robot);
    const std::string card = claim.text("/card/id");
    in_process().run(
        "UPDATE board_grants SET role = 'viewer' WHERE principal_id = '" + robot.id.str() + "'"
    );
    LockHolder first(
        "SELECT FROM cards WHERE id = '" + card +
        "' FOR UPDATE; INSERT INTO lease_outcomes (org_id, "
        "card_id, lease_id, digest, state, board_id, column_id, holder_id, attempt, epoch, "
        "lease_ttl_seconds, claimed_at, expires_at) SELECT org_id, card_id, lease_id, "
        "lease_digest, 'completed', board_id, column_id, holder_id, attempt, epoch, "
        "lease_ttl_seconds, claimed_at, expires_at FROM queue WHERE card_id = '" +
        card +
        "'; UPDATE queue SET state = 'idle', lease_id = NULL, lease_digest = NULL, "
        "holder_id = NULL, expires_at = NULL WHERE card_id = '" +
        card + "'"
    );
    int status = 0;
    std::thread repeat([&] { status = say(robot, "complete_lease", claim).status; });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it waits for the first
    first.commit();
    repeat.join();
    EXPECT_EQ(status, 200);
}

}  // namespace svc::test

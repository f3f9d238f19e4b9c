// In which order who locks what: nobody waits in a circle. Somebody with an open transaction is the
// other one, and takes his locks in the order in which all are to take theirs.

#include "tests/support/eventually.hpp"
#include "tests/support/lock_holder.hpp"
#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <future>

namespace svc::test {

using boost::json::array;
using boost::json::object;
using namespace std::chrono_literals;

namespace {

std::string card_lock(const std::string& card) {
    return "SELECT 1 FROM cards WHERE id = '" + card + "' FOR UPDATE";
}
std::string row_lock(const std::string& card) {
    return "SELECT 1 FROM queue WHERE card_id = '" + card + "' FOR UPDATE";
}

/// Whoever finds himself in a circle is told so soon, and it is not the server.
class Other : public LockHolder {
public:
    explicit Other(const std::string& first)
        : LockHolder("SET LOCAL deadlock_timeout = '200ms'; " + first) {}
};

void wait_until_somebody_waits() {
    ASSERT_TRUE(eventually([] {
        return in_process().run("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0";
    }));
}

/// Two cards that are worked on, of which the older waits for the younger.
struct Tied {
    BoardFixture fixture;
    Answer older = fixture.card(fixture.queue, {{"title", "Older"}});
    Answer first = fixture.claim();
    Answer younger = fixture.card(fixture.queue, {{"title", "Younger"}});
    Answer second = fixture.claim();

    Tied() {
        in_process().must(
            fixture.owner,
            "update_card",
            {{"card_id", older.text("/id")}, {"blocked_by", array{value(younger.text("/id"))}}}
        );
    }
    std::future<Answer> call(std::string_view operation, object what) {
        return std::async(std::launch::async, [this, operation, what] {
            return in_process().ask(fixture.owner, operation, what);
        });
    }
    std::future<Answer> say_later(const char* word, const Answer& claim) {
        return std::async(std::launch::async, [this, word, &claim] {
            return say(fixture.owner, word, claim);
        });
    }
};

}  // namespace

TEST(LockOrder, WhoRenewsWaitsForNobodyWhoHasTheCards) {
    Tied tied;
    Other other(card_lock(tied.older.text("/id")));
    auto renewed = tied.say_later("renew_lease", tied.second);
    EXPECT_EQ(renewed.wait_for(5s), std::future_status::ready) << "it waits";
    other.also(card_lock(tied.younger.text("/id")));
    auto again = tied.say_later("renew_lease", tied.second);
    EXPECT_EQ(again.wait_for(5s), std::future_status::ready) << "it waits";
    other.commit();
    EXPECT_EQ(renewed.get().status, 200);
    EXPECT_EQ(again.get().status, 200);
}

TEST(LockOrder, CardsAndThoseThatWaitForThemAreLockedInTheOrderOfTheirIds) {
    for (const char* word : {"complete_lease", "fail_lease", "release_lease"}) {
        Tied tied;
        Other other(card_lock(tied.older.text("/id")));
        auto ended = tied.say_later(word, tied.second);
        wait_until_somebody_waits();
        EXPECT_NO_THROW(other.also(card_lock(tied.younger.text("/id")))) << word;
        other.commit();
        EXPECT_EQ(ended.get().status, 200) << word;
    }
}

TEST(LockOrder, ACardThatComesToWaitWhileAMoveIsHeldUpIsLockedInItsTurnAsWell) {
    BoardFixture fixture;
    const auto older = fixture.card(fixture.backlog).text("/id");
    const auto younger = fixture.card(fixture.backlog).text("/id");
    Other ties(card_lock(younger));
    // Without what its foreign keys would lock, which is the other one's now.
    ties.also(
        "SET LOCAL session_replication_role = replica; INSERT INTO card_links (org_id, card_id, "
        "target_id, kind, id, created_by) SELECT org_id, '" +
        younger + "', '" + older + "', 'blocks', gen_random_uuid(), '{}' FROM cards WHERE id = '" +
        younger + "'"
    );
    auto moved = std::async(std::launch::async, [&] {
        return in_process().ask(
            fixture.owner, "move_card", {{"card_id", younger}, {"column_id", fixture.done.str()}}
        );
    });
    wait_until_somebody_waits();
    Other other(card_lock(older));
    ties.commit();
    wait_until_somebody_waits();
    EXPECT_NO_THROW(other.also(card_lock(younger)));
    other.commit();
    EXPECT_EQ(moved.get().status, 200);
}

TEST(LockOrder, AColumnsCardsAreLockedTogetherWithThoseThatWaitForThem) {
    Tied tied;
    const auto elsewhere = tied.fixture.column({{"name", "Elsewhere"}});
    in_process().must(
        tied.fixture.owner,
        "move_card",
        {{"card_id", tied.younger.text("/id")}, {"column_id", elsewhere.str()}}
    );
    const object column{{"board_id", tied.fixture.board.str()}, {"column_id", elsewhere.str()}};
    object done = column, gone = column;
    done["kind"] = "done";
    gone["move_cards_to"] = tied.fixture.backlog.str();
    for (const auto& [operation, what] : std::vector<std::pair<std::string_view, object>>{
             {"update_column", done}, {"delete_column", gone}}) {
        Other other(card_lock(tied.older.text("/id")));
        auto changed = tied.call(operation, what);
        wait_until_somebody_waits();
        EXPECT_NO_THROW(other.also(card_lock(tied.younger.text("/id")))) << operation;
        other.commit();
        EXPECT_LT(changed.get().status, 300) << operation;
    }
}

// Who completes a card looks at the rows of those that waited for it.
TEST(LockOrder, LeasesThatEndWithTheRightHoldUpNobodyWhileTheyWait) {
    BoardFixture fixture;
    const Caller agent = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    std::vector<std::string> cards;
    for (int i = 0; i < 2; ++i) {
        cards.push_back(fixture.card(fixture.queue).text("/id"));
        ASSERT_TRUE(fixture.claim(agent).body.at("claimed").as_bool());
    }
    Other other(row_lock(cards[1]));
    auto disabled = std::async(std::launch::async, [&] {
        return in_process().ask(fixture.owner, "disable_agent", {{"agent_id", agent.id.str()}});
    });
    wait_until_somebody_waits();
    EXPECT_NO_THROW(other.also(row_lock(cards[0])));
    other.commit();
    EXPECT_EQ(disabled.get().status, 200);
    for (const auto& each : cards)
        EXPECT_EQ(fixture.get(*Uuid::parse(each)).text("/queue/state"), "ready");
}

namespace {

std::string key_of_limit(const Uuid& id) {
    return "hashtextextended('queue.limit " + id.str() + "', 0)";
}

}  // namespace

// The column's number is known, the agent's is found on the way.
TEST(LockOrder, LimitsAreHeldInOneOrderHoweverTheyAreFound) {
    BoardFixture fixture;
    // Numbers are spread evenly over both signs, so a few of each find an agent's below a column's.
    const auto is_low = [](const Uuid& id) {
        return in_process().run("SELECT " + key_of_limit(id) + " < 0") == "t";
    };
    Caller agent = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    for (int i = 0; i < 60 && !is_low(agent.id); ++i)
        agent = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    Uuid column = fixture.queue;
    for (int i = 0; i < 60 && is_low(column); ++i)
        column = fixture.column({{"name", "Queue " + std::to_string(i)}, {"kind", "queue"}});
    ASSERT_TRUE(is_low(agent.id) && !is_low(column));
    in_process().must(
        fixture.owner,
        "update_agent",
        {{"agent_id", agent.id.str()}, {"budgets", {{"max_leases", 1}}}}
    );
    in_process().must(
        fixture.owner,
        "update_column",
        {{"board_id", fixture.board.str()},
         {"column_id", column.str()},
         {"queue", {{"max_in_flight", 5}}}}
    );
    const object claim{{"board_id", fixture.board.str()}, {"column_id", column.str()}};
    in_process().must(fixture.owner, "claim_next_card", claim);  // the column's is known by now
    fixture.card(column);
    Other other("SELECT pg_advisory_xact_lock(" + key_of_limit(agent.id) + ")");
    auto claimed = std::async(std::launch::async, [&] {
        return in_process().ask(agent, "claim_next_card", claim);
    });
    wait_until_somebody_waits();
    EXPECT_NO_THROW(other.also("SELECT pg_advisory_xact_lock(" + key_of_limit(column) + ")"));
    other.commit();
    const Answer answer = claimed.get();
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body.at("claimed").as_bool());
}

// A server may stop at any moment, and the next finds what it finds.
TEST(LockOrder, ACardIsExhaustedWhereItGoesAndNotBefore) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 1}});
    in_process().must(
        fixture.owner,
        "update_column",
        {{"board_id", fixture.board.str()},
         {"column_id", fixture.queue.str()},
         {"queue", {{"on_exhausted_column_id", fixture.backlog.str()}}}}
    );
    const auto stuck = fixture.card(fixture.queue);
    const auto stuck_claim = fixture.claim();
    const auto other_card = fixture.card(fixture.queue);
    const auto other_claim = fixture.claim();
    in_process().run(
        "UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id IN ('" +
        stuck_claim.text("/lease/id") + "', '" + other_claim.text("/lease/id") + "')"
    );
    Other other(card_lock(stuck.text("/id")));
    auto swept =
        std::async(std::launch::async, [] { in_process().run_job("queue.expire_leases"); });
    wait_until_somebody_waits();
    EXPECT_EQ(
        in_process().run("SELECT state FROM queue WHERE card_id = '" + stuck.text("/id") + "'"),
        "leased"
    ) << "if the sweeper stops now, nobody sends the card off";
    other.commit();
    swept.get();
    for (const Answer& each : {stuck, other_card}) {
        const Answer card = fixture.get(each.id());
        EXPECT_EQ(card.text("/column_id"), fixture.backlog.str());
        EXPECT_EQ(card.text("/queue/state"), "idle");
    }
}

}  // namespace svc::test

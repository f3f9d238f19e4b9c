// What queues held over the last day.

#include "tests/unit/queue/lease_steps.hpp"
#include "tests/unit/queue/queue_fixture.hpp"

namespace svc::test {

namespace {

std::string query(const BoardFixture& fixture, const std::string& what) {
    return in_process().run(
        "SELECT " + what + " FROM queue_depths WHERE column_id = '" + fixture.queue.str() + "'"
    );
}
int samples(const BoardFixture& fixture) { return std::stoi(query(fixture, "count(*)")); }
/// "ready leased exhausted held" of each, the oldest first.
std::string noted(const BoardFixture& fixture) {
    return query(
        fixture, "string_agg(concat_ws(' ', ready, leased, exhausted, held), ', ' ORDER BY at)"
    );
}
void sample() { in_process().run_job("queue.sample_depths"); }

/// As if all of the queue's samples had been noted so much earlier.
void age(const BoardFixture& fixture, const std::string& by) {
    in_process().run(
        "UPDATE queue_depths SET at = at - interval '" + by + "' WHERE column_id = '" +
        fixture.queue.str() + "'"
    );
}

}  // namespace

TEST(Depths, AreNotedByState) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 1}});
    for (int i = 0; i < 4; ++i) fixture.card(fixture.queue);
    say(fixture.owner, "fail_lease", fixture.claim());
    const Answer held = fixture.claim();
    sample();
    EXPECT_EQ(noted(fixture), "2 1 1 0");
}

TEST(Depths, AreNotedOnceInTenMinutes) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    sample();
    sample();
    // The second may have fallen into the next ten minutes, a third cannot.
    sample();
    EXPECT_LE(samples(fixture), 2);
    const int before = samples(fixture);
    age(fixture, "1 hour");
    sample();
    EXPECT_EQ(samples(fixture), before + 1);
}

TEST(Depths, AnEmptyQueueIsNotedOnceMoreAndThenNotAtAll) {
    BoardFixture fixture;
    sample();
    EXPECT_EQ(samples(fixture), 0);
    fixture.card(fixture.queue);
    sample();
    say(fixture.owner, "complete_lease", fixture.claim());
    for (int i = 0; i < 3; ++i) {
        age(fixture, "1 hour");
        sample();
    }
    EXPECT_EQ(noted(fixture), "1 0 0 0, 0 0 0 0");
}

TEST(Depths, AreForgottenAfterADay) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    sample();
    say(fixture.owner, "complete_lease", fixture.claim());
    age(fixture, "23 hours");
    sample();
    EXPECT_EQ(noted(fixture), "1 0 0 0, 0 0 0 0");
    age(fixture, "1 hour");
    sample();
    EXPECT_EQ(noted(fixture), "0 0 0 0");
    age(fixture, "24 hours");
    sample();
    EXPECT_EQ(samples(fixture), 0);
}

TEST(Depths, AreOfOneDayAndForThoseWhoSeeTheBoard) {
    QueueFixture fixture;
    fixture.card();
    const auto note = [&](const std::string& ago) {
        Postgres::shared().run(
            "INSERT INTO queue_depths SELECT org_id, id, now() - interval '" + ago +
                "', 1, 0, 0, 0, 0, 0 FROM columns WHERE id = '" + fixture.queue + "'",
            fixture.database
        );
    };
    for (const char* ago : {"25 hours", "23 hours", "1 minute"}) note(ago);
    const auto path = [&](const std::string& column) {
        return "/v1/boards/" + fixture.board + "/columns/" + column + "/queue/depths";
    };
    const Reply seen = expect(200, fixture.client.get(path(fixture.queue)));
    EXPECT_EQ(seen.json().at("samples").as_array().size(), 2U);
    EXPECT_LT(seen.text("/samples/0/at"), seen.text("/samples/1/at"));
    const Reply no_queue = expect(409, fixture.client.get(path(fixture.done)));
    EXPECT_EQ(no_queue.text("/additional_data/reason"), "not_a_queue");
    Workspace elsewhere = make_workspace(fixture.server, "eve@example.com");
    EXPECT_EQ(elsewhere.client.get(path(fixture.queue)).status, 404);
    expect(204, fixture.workspace.client.send("DELETE", "/v1/boards/" + fixture.board));
    EXPECT_EQ(fixture.client.get(path(fixture.queue)).status, 404);
}

}  // namespace svc::test

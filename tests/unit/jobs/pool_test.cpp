#include "jobs/runner.hpp"
#include "tests/unit/jobs/jobs_fixture.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace svc::test {

using testing::ElementsAre;

TEST(Jobs, AreDoneOnceTheirTransactionIsCommitted) {
    JobsFixture fixture;
    Said said;
    Pool pool(JobsFixture::brisk);
    pool.add(kind_that("greet", [&](JobRun& run) {
        said.add(run.key() + " " + run.payload() + " " + std::to_string(run.attempt()));
    }));
    pool.start(fixture.database);
    const Uuid org = new_uuid();
    EXPECT_THROW(
        fixture.write(
            org,
            [&](Tx& tx) {
                pool.enqueue(tx, {.kind = "greet", .org = org, .key = "undone"});
                throw std::runtime_error("undone");
            }
        ),
        std::runtime_error
    );
    fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "ada", .payload = "hello"});
    ASSERT_TRUE(eventually([&] { return fixture.done(); }));
    EXPECT_THAT(said.all(), ElementsAre("ada hello 1"));
    EXPECT_EQ(pool.load().at("greet").succeeded, 1u);
}

TEST(Jobs, OfOneKeyAreOneUntilItIsDone) {
    JobsFixture fixture;
    Said said;
    Pool pool(JobsFixture::brisk);
    std::atomic<bool> go_on{false};
    pool.add(kind_that("greet", [&](JobRun& run) {
        said.add(run.payload());
        eventually([&] { return go_on.load(); });
    }));
    const Uuid org = new_uuid();
    for (const char* payload : {"first", "second"})
        fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "a", .payload = payload});
    EXPECT_EQ(fixture.jobs("payload"), "first");
    pool.start(fixture.database);
    ASSERT_TRUE(eventually([&] { return said.size() == 1; }));
    // What is asked for while it runs may be news to the run: it runs once more, and once only.
    for (int i = 0; i < 3; ++i) fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "a"});
    go_on = true;
    ASSERT_TRUE(eventually([&] { return fixture.done(); }));
    EXPECT_EQ(said.size(), 2u);
}

TEST(Jobs, AskedForByWhoeverCommitsWhileTheyEndAreDoneOnceMore) {
    JobsFixture fixture;
    Said said;
    std::atomic<bool> go_on{false};
    Pool pool({.poll = 10ms, .lease = 1h});
    pool.add(kind_that("greet", [&](JobRun&) {
        said.add("hello");
        eventually([&] { return go_on.load(); });
    }));
    pool.start(fixture.database);
    const JobRequest job{.kind = "greet", .org = new_uuid(), .key = "a"};
    fixture.enqueue(pool, job);
    ASSERT_TRUE(eventually([&] { return said.size() == 1; }));
    fixture.write(job.org, [&](Tx& tx) {
        static constexpr Sql send{"test.send", "SELECT 1 AS one"};
        pool.enqueue(tx, job);
        tx.run(send);
        go_on = true;
        std::this_thread::sleep_for(200ms);  // its end waits for this transaction
    });
    EXPECT_TRUE(eventually([&] { return said.size() == 2; }, 5s));
    EXPECT_TRUE(eventually([&] { return fixture.done(); }));
}

TEST(Jobs, BeginWhenTheyAreDue) {
    JobsFixture fixture;
    Said said;
    Pool pool(JobsFixture::brisk);
    pool.add(kind_that("greet", [&](JobRun& run) { said.add(run.key()); }));
    pool.start(fixture.database);
    const Uuid org = new_uuid();
    fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "late", .after = 5s});
    fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "now"});
    ASSERT_TRUE(eventually([&] { return said.size() == 1; }));
    EXPECT_TRUE(eventually([&] { return fixture.jobs("state || key") == "waitinglate"; }));
    ASSERT_TRUE(eventually([&] { return fixture.done(); }));
    EXPECT_THAT(said.all(), ElementsAre("now", "late"));
    // A request to do it sooner counts; one to do it later does not.
    fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "soon", .after = 1h});
    fixture.enqueue(pool, {.kind = "greet", .org = org, .key = "soon"});
    ASSERT_TRUE(eventually([&] { return fixture.done(); }));
}

TEST(Jobs, ThatAnotherServerAskedForAreFoundWithoutAWake) {
    JobsFixture fixture;
    Said said;
    Pool pool(JobsFixture::brisk);
    pool.add(kind_that("greet", [&](JobRun& run) { said.add(run.key()); }));
    pool.start(fixture.database);
    fixture.insert("greet", new_uuid(), "a");
    fixture.insert("unknown", new_uuid(), "b");
    ASSERT_TRUE(eventually([&] { return said.size() == 1; }));
    ASSERT_TRUE(eventually([&] { return fixture.jobs("kind || state") == "unknownready"; }))
        << "of kinds that nobody here knows they wait";
}

TEST(Jobs, ThatFailAreTriedAgainLaterAndLaterAndThenKept) {
    JobsFixture fixture;
    Said said;
    Pool pool(JobsFixture::brisk);
    auto failing = kind_that("fail", [&](JobRun& run) {
        said.add(std::to_string(run.attempt()) + (run.last_attempt() ? " last" : ""));
        throw std::runtime_error("no\xFF");
    });
    failing.most_attempts = 3;
    pool.add(failing);
    pool.add(kind_that("hopeless", [&](JobRun&) { throw JobFailed("never"); }));
    pool.start(fixture.database);
    const Uuid org = new_uuid();
    fixture.enqueue(pool, {.kind = "fail", .org = org, .key = "a"});
    fixture.enqueue(pool, {.kind = "hopeless", .org = org, .key = "b"});
    ASSERT_TRUE(eventually([&] { return fixture.jobs("state") == "failed failed"; }));
    EXPECT_THAT(said.all(), ElementsAre("1", "2", "3 last"));
    EXPECT_EQ(fixture.jobs("attempts || last_error"), "3an error whose text is not UTF-8 1never");
    // Who asks for it anew has it begin anew.
    fixture.enqueue(pool, {.kind = "fail", .org = org, .key = "a"});
    ASSERT_TRUE(eventually([&] { return said.size() == 6; }));
    EXPECT_EQ(pool.load().at("hopeless").failed, 1u);
}

TEST(Jobs, ThatRestAfterAFailureAreNotHurried) {
    JobsFixture fixture;
    Said said;
    Pool pool(JobsFixture::brisk);
    auto failing = kind_that("fail", [&](JobRun&) {
        said.add("tried");
        throw std::runtime_error("not now");
    });
    failing.pause = failing.longest_pause = 1h;
    pool.add(failing);
    pool.start(fixture.database);
    const Uuid org = new_uuid();
    for (int i = 0; i < 20; ++i) {
        fixture.enqueue(pool, {.kind = "fail", .org = org, .key = "a"});
        ASSERT_TRUE(eventually([&] { return fixture.jobs("state") == "waiting"; }));
    }
    EXPECT_LE(said.size(), 2u) << "the second was asked for while the first ran";
}

TEST(Jobs, PausesDoubleUpToTheLongest) {
    JobKind kind;
    kind.pause = 1s;
    kind.longest_pause = 10s;
    const auto about = [&](std::int64_t attempt, std::chrono::milliseconds pause) {
        const auto real = jobs::pause_after(kind, attempt);
        EXPECT_GE(real, pause * 3 / 4) << attempt;
        EXPECT_LE(real, pause * 5 / 4) << attempt;
    };
    about(1, 1s);
    about(2, 2s);
    about(4, 8s);
    about(5, 10s);
    about(1'000'000'000, 10s);
}

TEST(Jobs, EndWithWhatTheyDidOrNotAtAll) {
    JobsFixture fixture;
    fixture.ask("CREATE TABLE done (key text)");
    fixture.ask("GRANT ALL ON done TO PUBLIC");
    static constexpr Sql note{"test.note", "INSERT INTO done (key) VALUES ($1)"};
    Pool pool(JobsFixture::brisk);
    std::atomic<int> tries{0};
    pool.add(kind_that("note", [&](JobRun& run) {
        fixture.database.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(run.org(), std::nullopt);
            tx.queue(note, run.key());
            run.complete(tx);
            if (++tries == 1) throw std::runtime_error("before the commit");
        });
    }));
    pool.start(fixture.database);
    fixture.enqueue(pool, {.kind = "note", .org = new_uuid(), .key = "a"});
    ASSERT_TRUE(eventually([&] { return fixture.done(); }, 5s))
        << fixture.ask("SELECT json_agg(j) FROM jobs j");
    EXPECT_EQ(tries, 2);
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM done"), "1");
}

TEST(Jobs, ThatRecurAreDoneEverySoOftenByOneServer) {
    JobsFixture fixture;
    Said said;
    auto sweep = kind_that("sweep", [&](JobRun&) { said.add("swept"); });
    sweep.every = 200ms;
    Pool first(JobsFixture::brisk), second(JobsFixture::brisk);
    const auto other = fixture.another_server();
    for (Pool* each : {&first, &second}) each->add(sweep);
    const auto begun = std::chrono::steady_clock::now();
    first.start(fixture.database);
    second.start(*other);
    ASSERT_TRUE(eventually([&] { return said.size() >= 4; }));
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_GE(took, 4 * 150ms) << "two servers do not do it twice as often";
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM jobs"), "1");
    first.stop();
    second.stop();
}

TEST(Jobs, ThatRecurGoOnAfterAFailure) {
    JobsFixture fixture;
    std::atomic<int> runs{0};
    auto sweep = kind_that("sweep", [&](JobRun& run) {
        EXPECT_FALSE(run.last_attempt());
        if (++runs < 20) throw std::runtime_error("no");
    });
    sweep.every = 20ms;
    sweep.most_attempts = 2;
    Pool pool(JobsFixture::brisk);
    pool.add(sweep);
    pool.start(fixture.database);
    EXPECT_TRUE(eventually([&] { return runs >= 25; }));
    pool.stop();
}

TEST(Jobs, OfAWorkspaceThatIsGoneAreNotDone) {
    JobsFixture fixture;
    const Uuid org = new_uuid(), other = new_uuid();
    for (const Uuid& each : {org, other}) fixture.insert("greet", each, "a");
    Pool pool(JobsFixture::brisk);
    fixture.write(org, [&](Tx& tx) { pool.cancel_all_of(tx, org); });
    EXPECT_EQ(fixture.jobs("org_id"), other.str());
}

TEST(Jobs, StopYieldsAndLeavesTheRestReady) {
    JobsFixture fixture;
    std::atomic<int> running{0};
    Pool pool(JobsFixture::brisk);
    pool.add({
        .name = "long",
        .run =
            [&](JobRun& run) {
                ++running;
                while (!run.should_yield()) std::this_thread::sleep_for(1ms);
                return JobOutcome::more;
            },
        .slice = 1h,
    });
    pool.start(fixture.database);
    for (int i = 0; i < 4; ++i) fixture.insert("long", new_uuid(), "a");
    ASSERT_TRUE(eventually([&] { return running == 2; }));
    const auto from = std::chrono::steady_clock::now();
    pool.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - from, 5s);
    EXPECT_EQ(fixture.jobs("state || attempts"), "ready0 ready0 ready0 ready0");
}

TEST(Jobs, GoOnAfterTheDatabaseWasAway) {
    Postgres postgres;
    EventsFixture fixture(postgres);
    Said said;
    Pool pool(JobsFixture::brisk);
    pool.add(kind_that("greet", [&](JobRun& run) { said.add(run.key()); }));
    pool.start(fixture.database);
    postgres.restart();
    ASSERT_TRUE(eventually([&] { return fixture.database.reachable(); }));
    fixture.ask(
        "INSERT INTO jobs (org_id, kind, key, state) VALUES "
        "('00000000-0000-0000-0000-000000000000', 'greet', 'a', 'ready')"
    );
    EXPECT_TRUE(eventually([&] { return said.size() == 1; }));
    pool.stop();
}

TEST(Jobs, ThatSomebodyElseTookMeanwhileAreNotEndedByTheFirst) {
    JobsFixture fixture;
    Said said;
    std::atomic<bool> go_on{false};
    Pool pool({.poll = 10ms, .lease = 30s});
    pool.add(kind_that("slow", [&](JobRun& run) {
        if (!go_on) eventually([&] { return go_on.load(); });
        said.add(run.should_yield() ? "lost" : "held");
    }));
    pool.start(fixture.database);
    fixture.enqueue(pool, {.kind = "slow", .org = new_uuid(), .key = "a"});
    ASSERT_TRUE(eventually([&] { return fixture.jobs("state") == "running"; }));
    const auto other = new_uuid().str();
    fixture.ask("UPDATE jobs SET lease = '" + other + "'");
    go_on = true;
    ASSERT_TRUE(eventually([&] { return said.size() == 1; }));
    pool.stop();
    EXPECT_EQ(fixture.jobs("state || lease"), "running" + other);
}

}  // namespace svc::test

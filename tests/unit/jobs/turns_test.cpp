// Whose turn it is: workspaces and kinds of jobs do not wait for each other.

#include "tests/unit/jobs/jobs_fixture.hpp"

#include <thread>

namespace svc::test {

TEST(Jobs, AFloodOfOneWorkspaceDelaysNoOther) {
    JobsFixture fixture;
    Said said;
    const Uuid flooding = new_uuid();
    fixture.ask(
        "INSERT INTO jobs (org_id, kind, key, state) SELECT '" + flooding.str() +
        "', 'work', n::text, 'ready' FROM generate_series(1, 20000) n"
    );
    std::vector<Uuid> others;
    for (int i = 0; i < 20; ++i) {
        others.push_back(new_uuid());
        fixture.insert("work", others.back(), "only");
    }
    Pool pool(JobsFixture::brisk);
    auto work = kind_that("work", [&](JobRun& run) {
        std::this_thread::sleep_for(1ms);
        said.add(run.org().str());
    });
    work.at_once = 2;
    pool.add(work);
    pool.start(fixture.database);
    std::vector<std::string> all;
    const auto served = [&] {
        all = said.all();
        return std::ranges::all_of(others, [&](const Uuid& each) {
            return std::ranges::find(all, each.str()) != all.end();
        });
    };
    ASSERT_TRUE(eventually(served));
    const auto of_flood = std::ranges::count(all, flooding.str());
    EXPECT_LE(of_flood, 60) << "of 20,000 that were there first, while 20 others had one each";
    pool.stop();
}

TEST(Jobs, WorkspacesThatAreSlowLeaveAPlaceToTheOthers) {
    JobsFixture fixture;
    const Uuid quick = new_uuid();
    std::atomic<int> slow_ones{0};
    std::atomic<bool> go_on{false};
    Said said;
    Pool pool(JobsFixture::brisk);
    auto work = kind_that("work", [&](JobRun& run) {
        if (run.org() == quick) return said.add("quick");
        if (++slow_ones < 5) std::this_thread::sleep_for(1500ms);
        else EXPECT_TRUE(eventually([&] { return go_on.load(); }));
    });
    work.at_once = 2;
    work.slice = 100ms;
    pool.add(work);
    for (int org = 0; org < 3; ++org) {
        const Uuid slow = new_uuid();
        for (int i = 0; i < 3; ++i) fixture.insert("work", slow, std::to_string(i));
    }
    pool.start(fixture.database);
    // All three have been met as what they are, and have more to do.
    ASSERT_TRUE(eventually([&] { return slow_ones >= 5; }));
    std::this_thread::sleep_for(100ms);
    fixture.enqueue(pool, {.kind = "work", .org = quick, .key = "a"});
    EXPECT_TRUE(eventually([&] { return said.size() == 1; }, 10s));
    EXPECT_LT(slow_ones, 9) << "they were done already, so that this shows nothing";
    go_on = true;
}

TEST(Jobs, OfOneKindWaitForNoOtherKind) {
    JobsFixture fixture;
    Said said;
    std::atomic<bool> go_on{false};
    Pool pool(JobsFixture::brisk);
    for (const char* name : {"long.a", "long.b", "long.c"})
        pool.add(kind_that(name, [&](JobRun&) { eventually([&] { return go_on.load(); }); }));
    pool.add(kind_that("quick", [&](JobRun& run) { said.add(run.key()); }));
    pool.start(fixture.database);
    const Uuid org = new_uuid();
    for (const char* name : {"long.a", "long.b", "long.c"})
        for (const char* key : {"1", "2", "3"})
            fixture.enqueue(pool, {.kind = name, .org = org, .key = key});
    fixture.enqueue(pool, {.kind = "quick", .org = org, .key = "a"});
    EXPECT_TRUE(eventually([&] { return said.size() == 1; }, 5s));
    // The quick one's row is there until its end is committed, which is after it was said.
    const std::string long_ones =
        "SELECT count(*) FROM jobs WHERE state = 'running' AND kind LIKE 'long.%'";
    EXPECT_TRUE(eventually([&] { return fixture.ask(long_ones) == "3"; }));
    go_on = true;
    EXPECT_TRUE(eventually([&] { return fixture.done(); }));
}

TEST(Jobs, ThatTakeLongYieldToOtherWorkspaces) {
    JobsFixture fixture;
    Pool pool(JobsFixture::brisk);
    std::atomic<bool> begun{false}, small_is_done{false};
    const Uuid big = new_uuid(), small = new_uuid();
    pool.add({
        .name = "purge",
        .run =
            [&](JobRun& run) {
                if (run.org() == small) small_is_done = true;
                for (begun = true; !small_is_done; std::this_thread::sleep_for(5ms))
                    if (run.should_yield()) return JobOutcome::more;
                return JobOutcome::done;
            },
        .at_once = 1,
        .slice = 30ms,
    });
    pool.start(fixture.database);
    fixture.enqueue(pool, {.kind = "purge", .org = big, .key = ""});
    ASSERT_TRUE(eventually([&] { return begun.load(); }));
    fixture.enqueue(pool, {.kind = "purge", .org = small, .key = ""});
    EXPECT_TRUE(eventually([&] { return small_is_done.load(); }));
    small_is_done = true;
    EXPECT_TRUE(eventually([&] { return fixture.done(); }));
}

}  // namespace svc::test

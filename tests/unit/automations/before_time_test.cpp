#include "tests/support/timing.hpp"
#include "tests/unit/automations/script_fixture.hpp"

/// How long a request waits for the scripts that may refuse it.
namespace svc::test {

namespace {

// No instruction is counted meanwhile, so that it takes all the time that there is.
const std::string takes_for_ever = R"(
svc.before("note.created", function(event)
  string.find(("a"):rep(3000), ("a*"):rep(12) .. "c")
end))";

}  // namespace

TEST(BeforeTime, IsOneForAllChangesOfARequestAndAllScripts) {
    ScriptFixture scripts;
    auto& runner = scripts.use(takes_for_ever, takes_for_ever);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(scripts.invoke("leave_marks", R"({"count":20})").status, 204);
    EXPECT_GE(std::chrono::steady_clock::now() - start, tight().own_time * 4);
    EXPECT_LE(runner.counts().runs, 6u) << "the rest was skipped";
}

TEST(BeforeTime, BeginsAnewWithEachRequest) {
    ScriptFixture scripts;
    auto& runner = scripts.use(takes_for_ever);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(scripts.invoke("leave_mark", R"({"text":"m"})").status, 201);
    runner.write_down();
    EXPECT_EQ(scripts.runs("status"), "failed,failed");
}

TEST(BeforeTime, OfWhichOthersTookAPartIsSaidToBeWhatWasLeft) {
    const Sandbox sandbox(sandbox_program(), tight());
    const auto took = quickest(4, tight().own_time, [&] {
        const auto start = std::chrono::steady_clock::now();
        const Ended ended = sandbox.run(
            {.mode = Mode::before,
             .name = "a.lua",
             .source = takes_for_ever,
             .event = R"({"kind":"note.created"})",
             .own_time_left = 60ms}
        );
        EXPECT_EQ(ended.error, "a.lua: took longer than the 60 ms that were left of 1000 ms");
        return std::chrono::steady_clock::now() - start;
    });
    EXPECT_LT(took, tight().own_time);
}

TEST(BeforeTime, OfQuickScriptsIsEnoughForManyChanges) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.before("note.created", function(event)
  if event.data.changes.title ~= "one of many" then return svc.refuse("no", "No.") end
end))");
    EXPECT_EQ(scripts.invoke("leave_marks", R"({"count":20})").status, 204);
    EXPECT_EQ(scripts.runner->counts().runs, 20u);
    EXPECT_EQ(scripts.runner->counts().failures, 0u);
}

}  // namespace svc::test

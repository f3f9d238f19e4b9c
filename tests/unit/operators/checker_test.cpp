#include "modules/operators/lib/checker.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace svc::operators {
namespace {

using Level = Finding::Level;

std::shared_ptr<const Checker::Results> found_by(Checker& checker) {
    for (int tries = 0; tries < 2'000; ++tries) {
        if (auto results = checker.look()) return results;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "nothing was found";
    return nullptr;
}

TEST(Checker, RunsOnceSomebodyAsksAndNotForEveryQuestion) {
    std::atomic<int> runs{0};
    const std::vector<Check> checks{
        {"mail",
         [&runs] {
             ++runs;
             return Finding{Level::warning, "mails become files"};
         },
         false,
         "mail-file"}};
    Checker checker(checks);
    checker.start();
    EXPECT_EQ(runs, 0);
    const auto results = found_by(checker);
    ASSERT_TRUE(results);
    ASSERT_EQ(results->findings.size(), 1U);
    EXPECT_EQ(results->findings[0].module, "mail-file");
    EXPECT_EQ(results->findings[0].finding.text, "mails become files");
    for (int times = 0; times < 100; ++times) checker.look();
    checker.stop();
    EXPECT_EQ(runs, 1);
}

TEST(Checker, TakesWhatACheckThrowsForAFault) {
    const std::vector<Check> checks{
        {"store", []() -> Finding { throw std::runtime_error("no such bucket"); }},
        {"clock", [] { return Finding{Level::ok, "agrees"}; }}};
    Checker checker(checks);
    checker.start();
    const auto results = found_by(checker);
    ASSERT_TRUE(results);
    ASSERT_EQ(results->findings.size(), 2U);
    EXPECT_EQ(results->findings[0].finding.level, Level::fault);
    EXPECT_EQ(results->findings[0].finding.text, "no such bucket");
    EXPECT_EQ(results->findings[1].finding.level, Level::ok);
}

TEST(Checker, EndsWithoutTheChecksThatAreLeft) {
    std::atomic<bool> began{false}, may_end{false};
    std::atomic<int> others{0};
    const std::vector<Check> checks{
        {"slow",
         [&] {
             began = true;
             while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
             return Finding{};
         }},
        {"other", [&] {
             ++others;
             return Finding{};
         }}};
    Checker checker(checks);
    checker.start();
    checker.look();
    while (!began) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::thread ends([&] { checker.stop(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    may_end = true;
    ends.join();
    EXPECT_EQ(others, 0);
}

}  // namespace
}  // namespace svc::operators

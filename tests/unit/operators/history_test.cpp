#include "modules/operators/lib/history.hpp"

#include <gtest/gtest.h>

namespace svc::operators {
namespace {

Metric charted(std::string name, std::string labels, double value) {
    return {std::move(name), "What it is.", std::move(labels), value, true};
}
Timestamp minute(std::int64_t at) { return {at * 60'000'000}; }

TEST(History, KeepsWhatIsChartedAndNothingElse) {
    History history;
    history.add(minute(1), {charted("jobs", "kind=\"a\"", 3), {"connections", "Open.", "", 5}});
    history.add(minute(2), {charted("jobs", "kind=\"a\"", 4)});
    const auto kept = history.kept();
    EXPECT_EQ(kept.times, (std::vector{minute(1), minute(2)}));
    ASSERT_EQ(kept.values.size(), 1U);
    EXPECT_EQ(kept.values.at({"jobs", "kind=\"a\""}), (std::vector<History::Value>{3, 4}));
}

TEST(History, SaysWhatWasNotKnown) {
    History history;
    history.add(minute(1), {charted("one", "", 1)});
    history.add(minute(2), {charted("two", "", 2)});
    history.add(minute(3), {charted("one", "", 3), charted("two", "", 4)});
    const auto kept = history.kept();
    EXPECT_EQ(kept.values.at({"one", ""}), (std::vector<History::Value>{1, std::nullopt, 3}));
    EXPECT_EQ(kept.values.at({"two", ""}), (std::vector<History::Value>{std::nullopt, 2, 4}));
}

TEST(History, ForgetsWhatIsOlderThanAnHour) {
    History history;
    history.add(minute(0), {charted("first", "", 1)});
    for (int at = 1; at <= 100; ++at) history.add(minute(at), {charted("late", "", at)});
    const auto kept = history.kept();
    ASSERT_EQ(kept.times.size(), History::most);
    EXPECT_EQ(kept.times.front(), minute(41));
    EXPECT_EQ(kept.values.at({"late", ""}).size(), History::most);
    EXPECT_EQ(kept.values.at({"late", ""}).front(), 41);
    EXPECT_FALSE(kept.values.contains({"first", ""})) << "nothing is known of it any more";
}

}  // namespace
}  // namespace svc::operators

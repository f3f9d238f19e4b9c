#include "events/metrics.hpp"

#include "tests/unit/events/site.hpp"

namespace svc::test {

namespace {

double seconds_behind(EventsFixture& fixture, const std::string& consumer) {
    const auto lags = events::consumer_metrics(fixture.database, {consumer});
    EXPECT_EQ(lags.size(), 1U);
    return lags.at(0).value;
}

}  // namespace

TEST(ConsumerMetrics, SayHowLongAgoTheFirstEventWasThatIsStillToBeHandedOver) {
    EventsFixture fixture;
    Heard heard;
    const auto reader = consumer("reader", [&](const StoredEvent& event) { heard.add(event); });
    EXPECT_TRUE(events::consumer_metrics(fixture.database, {"reader"}).empty());
    {
        Site site(fixture, {reader});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
        emit(fixture, 3);
        ASSERT_TRUE(eventually([&] { return heard.size() == 3; }));
        EXPECT_TRUE(eventually([&] { return seconds_behind(fixture, "reader") == 0; }));
    }
    {
        Site without(fixture, {});
        emit(fixture, 2);
        ASSERT_TRUE(eventually([&] { return fixture.all_sequenced(); }));
    }
    const double once = seconds_behind(fixture, "reader");
    EXPECT_GT(once, 0);
    std::this_thread::sleep_for(100ms);
    EXPECT_GE(seconds_behind(fixture, "reader"), once + 0.1);
    const Site again(fixture, {reader});
    EXPECT_TRUE(eventually([&] { return seconds_behind(fixture, "reader") == 0; }));
    EXPECT_TRUE(eventually([&] { return heard.size() == 5; }));
}

// As while the server that puts events in order hangs.
TEST(ConsumerMetrics, CountWhatHasNoNumberYet) {
    EventsFixture fixture;
    Heard heard;
    const auto reader = consumer("reader", [&](const StoredEvent& event) { heard.add(event); });
    {
        const Site site(fixture, {reader});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
    }
    EXPECT_EQ(seconds_behind(fixture, "reader"), 0);
    emit(fixture, 2);
    EXPECT_GT(seconds_behind(fixture, "reader"), 0);
    const Site again(fixture, {reader});
    EXPECT_TRUE(eventually([&] { return seconds_behind(fixture, "reader") == 0; }));
    EXPECT_TRUE(eventually([&] { return heard.size() == 2; }));
}

TEST(ConsumerMetrics, DoNotCountWhatIsNoLongerKept) {
    EventsFixture fixture;
    {
        const Site site(fixture, {consumer("reader", {})});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
    }
    {
        const Site without(fixture, {});
        emit(fixture, 3);
        ASSERT_TRUE(eventually([&] { return fixture.all_sequenced(); }));
    }
    fixture.ask("UPDATE event_position SET dropped = 2 RETURNING dropped");
    EXPECT_GT(seconds_behind(fixture, "reader"), 0) << "one is kept";
    fixture.ask("UPDATE event_position SET dropped = 3 RETURNING dropped");
    EXPECT_EQ(seconds_behind(fixture, "reader"), 0);
}

}  // namespace svc::test

#include "tests/support/timing.hpp"
#include "tests/unit/bus/hub.hpp"

#include <unistd.h>

namespace svc::test {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using Clock = std::chrono::steady_clock;

/// Waits until one hears of the other by what it publishes; other messages may be lost before.
bool reaches(HearingBus& from, HearingBus& to, const std::string& word) {
    return eventually([&] {
        from.bus.publish("test", word);
        const auto heard = to.heard();
        return std::ranges::count(heard, word) > 0;
    });
}

}  // namespace

TEST(ServerBus, WhatIsPublishedReachesTheOthersAndNotItsServer) {
    Hub hub;
    HearingBus first(hub), second(hub), third(hub);
    for (const HearingBus* each : {&first, &second, &third}) ASSERT_TRUE(each->knows(2));
    first.bus.publish("test", "one");
    first.bus.publish("of_nobody", "two");
    first.bus.publish("test");
    ASSERT_TRUE(eventually([&] { return second.heard().size() == 2; }));
    ASSERT_TRUE(eventually([&] { return third.heard().size() == 2; }));
    EXPECT_THAT(second.heard(), ElementsAre("one", ""));
    EXPECT_THAT(third.heard(), ElementsAre("one", ""));
    EXPECT_THAT(first.heard(), IsEmpty());
}

TEST(ServerBus, SendsNothingButItsBeatsWhileNobodyElseIsThere) {
    Hub hub;
    HearingBus only(hub);
    ASSERT_TRUE(only.knows(0));
    const auto sent = only.bus.load().sent;
    const auto since = Clock::now();
    for (int i = 0; i < 100'000; ++i) only.bus.publish("test", std::to_string(i));
    const auto beats = (Clock::now() - since) / 100ms;
    EXPECT_LE(only.bus.load().sent - sent, static_cast<std::uint64_t>(beats) + 2);

    HearingBus late(hub);
    EXPECT_TRUE(only.knows(1) && late.knows(1)) << "whoever comes later is known at once";
}

TEST(ServerBus, ManyWakeUpsShareFewMessages) {
    Hub hub;
    HearingBus first(hub), second(hub);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    const auto before = first.bus.load().sent;
    const auto since = Clock::now();
    for (int i = 0; i < 20'000; ++i) first.bus.publish("test", std::to_string(i % 10));
    ASSERT_TRUE(eventually([&] { return second.heard().size() >= 10; }));
    const auto spacings = (Clock::now() - since) / 4ms;
    EXPECT_LE(first.bus.load().sent - before, static_cast<std::uint64_t>(spacings) + 3);
    for (int i = 0; i < 10; ++i) EXPECT_THAT(second.heard(), Contains(std::to_string(i)));
}

TEST(ServerBus, StartsWithoutAConnectionAndFindsItLater) {
    Hub hub;
    hub.is_down = true;
    HearingBus first(hub), second(hub);
    ASSERT_TRUE(eventually([&] { return hub.attempts >= 6; }));
    EXPECT_FALSE(first.bus.load().connected);
    first.bus.publish("test", "into the void");
    hub.is_down = false;
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    EXPECT_TRUE(reaches(first, second, "now"));
    EXPECT_EQ(first.bus.load().reconnects, 0u);
}

TEST(ServerBus, MakesAConnectionAgainThatBroke) {
    Hub hub;
    HearingBus first(hub), second(hub);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    for (std::uint64_t round = 1; round <= 3; ++round) {
        hub.cut();
        ASSERT_TRUE(eventually([&] {
            return first.bus.load().reconnects >= round && second.bus.load().reconnects >= round;
        }));
        ASSERT_TRUE(first.knows(1) && second.knows(1));
        EXPECT_TRUE(reaches(second, first, "round " + std::to_string(round)));
    }
}

// A connection that stands and brings nothing, as after a firewall has forgotten it.
TEST(ServerBus, NoticesAConnectionThatKeepsSilent) {
    Hub hub;
    HearingBus first(hub), second(hub);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    const int before = hub.attempts;
    hub.swallows = true;
    ASSERT_TRUE(eventually([&] { return hub.attempts >= before + 4; }));
    EXPECT_FALSE(first.bus.load().connected) << "what stands is not what is of use";
    hub.swallows = false;
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    EXPECT_TRUE(reaches(first, second, "again"));
}

TEST(ServerBus, ForgetsAServerThatIsGone) {
    Hub hub;
    HearingBus first(hub);
    {
        HearingBus second(hub);
        ASSERT_TRUE(first.knows(1));
    }
    EXPECT_TRUE(first.knows(0));
}

TEST(ServerBus, IgnoresWhatIsNotOfItsServers) {
    Hub hub;
    HearingBus first(hub), second(hub), stranger(hub, "another key");
    ASSERT_TRUE(first.knows(1) && second.knows(1) && stranger.knows(0));
    for (const std::string& each :
         {std::string(), std::string("garbage"), std::string(100'000, 'x'), std::string(200, '\0')})
        hub.inject(each);
    for (const std::string& each : hub.carried()) hub.inject(each + "\ntest injected");
    stranger.bus.publish("test", "strange");
    EXPECT_TRUE(reaches(first, second, "mine"));
    EXPECT_EQ(std::ranges::count(second.heard(), "mine"), std::ssize(second.heard()));
    EXPECT_GE(second.bus.load().rejected, 4u);
}

// More than is taken at a time lies in the connection's memory, where no descriptor shows it.
TEST(ServerBus, WhatIsLeftInTheConnectionIsTakenBeforeAnythingElseComes) {
    Hub hub;
    auto settings = brisk_bus();
    settings.beat = 5s;
    settings.silence = 20s;
    settings.forget = 20s;
    HearingBus first(hub, "key", settings), second(hub, "key", settings);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    hub.buffers = true;
    hub.copies = 100;
    const auto since = Clock::now();
    first.bus.publish("test", "word");
    EXPECT_TRUE(eventually([&] { return second.heard().size() == 100; }));
    EXPECT_LT(Clock::now() - since, 2s);
}

TEST(ServerBus, TakesDuplicatesAsTheyCome) {
    Hub hub;
    hub.copies = 3;
    HearingBus first(hub), second(hub);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    first.bus.publish("test", "thrice");
    ASSERT_TRUE(eventually([&] { return second.heard().size() == 3; }));
    EXPECT_THAT(second.heard(), testing::Each("thrice"));
}

// A hundred thousand messages of somebody else's do not get a processor, and hold nobody up.
TEST(ServerBus, TakesAFloodSlowly) {
    Hub hub;
    HearingBus first(hub), second(hub);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    const std::string garbage(200, 'x');
    for (int i = 0; i < 100'000; ++i) hub.inject(garbage);
    const auto since = Clock::now();
    const auto taken = process_time(::getpid(), [] { std::this_thread::sleep_for(500ms); });
    const auto share =
        std::chrono::duration<double>(taken) / std::chrono::duration<double>(Clock::now() - since);
    RecordProperty("percent_of_a_processor", static_cast<int>(share * 100));
    EXPECT_LT(share, 0.9) << "of one processor, for two servers";
    EXPECT_TRUE(reaches(first, second, "through"));
}

TEST(ServerBus, StopsAtOnceWhateverItWaitsFor) {
    for (const bool is_down : {false, true}) {
        Hub hub;
        hub.is_down = is_down;
        auto settings = brisk_bus();
        settings.beat = settings.silence = settings.retry = settings.longest_retry = 60s;
        HearingBus only(hub, "key", settings);
        ASSERT_TRUE(eventually([&] { return hub.attempts == 1; }));
        const auto since = Clock::now();
        only.bus.stop();
        EXPECT_LT(Clock::now() - since, 5s);
        only.bus.publish("test", "after the end");
    }
}

TEST(ServerBus, SendsWhatWaitsBeforeItEnds) {
    Hub hub;
    HearingBus second(hub);
    for (int round = 0; round < 5; ++round) {
        const std::string word = "last of " + std::to_string(round);
        {
            HearingBus first(hub);
            ASSERT_TRUE(eventually([&] { return first.bus.load().peers > 0; }));
            first.bus.publish("test", word);
            first.bus.stop();
        }
        EXPECT_TRUE(eventually([&] { return std::ranges::count(second.heard(), word) == 1; }));
    }
}

TEST(ServerBus, AListenerThatThrowsHurtsNobody) {
    Hub hub;
    HearingBus first(hub);
    bus::ServerBus second(brisk_bus());
    std::atomic<int> heard{0};
    second.subscribe("test", [](std::string_view) { throw std::runtime_error("a fault"); });
    second.subscribe("test", [&](std::string_view) { ++heard; });
    EXPECT_THROW(second.subscribe("No Channel", [](std::string_view) {}), std::logic_error);
    HearingBus third(hub);
    second.start(hub, "workboard_other", [](std::string_view) { return std::string(32, 's'); });
    EXPECT_THROW(second.subscribe("late", [](std::string_view) {}), std::logic_error);
    bus::ServerBus fourth(brisk_bus());
    fourth.start(hub, "workboard_other", [](std::string_view) { return std::string(32, 's'); });
    ASSERT_TRUE(eventually([&] { return fourth.load().peers == 1; }));
    ASSERT_TRUE(eventually([&] {
        fourth.publish("test");
        return heard >= 3;
    }));
}

TEST(ServerBus, PublishesTextAlone) {
    Hub hub;
    HearingBus only(hub);
    for (const std::string& each :
         {std::string("a\nb"), std::string(201, 'x'), std::string(1, '\0')})
        EXPECT_THROW(only.bus.publish("test", each), std::logic_error);
    EXPECT_THROW(only.bus.publish("Test"), std::logic_error);
    EXPECT_NO_THROW(only.bus.publish("test", std::string(200, 'x')));
}

}  // namespace svc::test

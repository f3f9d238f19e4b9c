#include "events/feed.hpp"

#include "tests/unit/events/site.hpp"

#include <gmock/gmock.h>

namespace svc::test {

namespace {

using events::Feed;
using testing::ElementsAre;

std::vector<StoredEvent> batch(std::int64_t first, std::int64_t last) {
    std::vector<StoredEvent> out;
    for (auto position = first; position <= last; ++position) {
        out.emplace_back();
        out.back().position = position;
    }
    return out;
}

/// Of events at positions that are hundreds.
bool wanted(const StoredEvent& event) { return event.position % 100 == 0; }

std::vector<std::int64_t> positions(const Feed::Heard& heard) {
    std::vector<std::int64_t> out;
    for (const StoredEvent& each : heard.events) out.push_back(each.position);
    return out;
}

constexpr std::size_t all = 1'000'000;

/// One that has heard of the first event, and whose consumer has taken it.
struct Begun : Feed {
    Begun() {
        begin();
        hear(batch(1, 1), wanted);
        take(1, all);
    }
};

/// A reader of changed notes alone.
Consumer reader_of_updates(Heard& heard) {
    auto reader = consumer("reader", [&](const StoredEvent& event) { heard.add(event); });
    reader.subscribers = [](const StoredEvent& event) {
        return event.kind == "note.updated" ? std::vector<std::string>{"all"}
                                            : std::vector<std::string>{};
    };
    return reader;
}

void emit_update(EventsFixture& fixture) {
    const Uuid org = new_uuid();
    fixture.write(org, [&](Tx& tx) {
        Note before, after;
        before.id = after.id = new_uuid();
        after.title = "new";
        emit_as_system(tx, org, "write_note", changed(note_updated, before, after));
    });
}

/// When the session that holds the consumer's lock was last asked anything.
std::string last_statement(const EventsFixture& fixture) {
    return fixture.ask(
        "SELECT max(a.query_start) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE "
        "l.locktype = 'advisory' AND l.granted AND l.objid <> 1 AND l.classid::bigint >= "
        "2147483648 "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    );
}

std::string kept_position(const EventsFixture& fixture) {
    return fixture.ask("SELECT position FROM event_consumers WHERE name = 'reader'");
}

}  // namespace

TEST(Feed, PassesByWhatNobodyWants) {
    Begun feed;
    EXPECT_FALSE(feed.hear(batch(2, 50), wanted));
    EXPECT_EQ(feed.take(1, all).value().to, 50);
    EXPECT_TRUE(feed.hear(batch(51, 120), wanted));
    const auto heard = feed.take(50, all).value();
    EXPECT_THAT(positions(heard), ElementsAre(100));
    EXPECT_EQ(heard.to, 120);
    EXPECT_TRUE(feed.take(120, all).value().events.empty());
}

TEST(Feed, HasAllOfAnEventButTheEnvelope) {
    Begun feed;
    auto sequenced = batch(2, 100);
    sequenced.back().kind = "card.moved";
    sequenced.back().envelope = "{}";
    sequenced.back().actor.text = "{}";
    sequenced.back().card_id = new_uuid();
    feed.hear(sequenced, wanted);
    const auto heard = feed.take(1, all).value();
    sequenced.back().envelope.clear();
    EXPECT_EQ(to_json(heard.events.at(0)), to_json(sequenced.back()));
}

TEST(Feed, IsTakenInPartsWithoutALoss) {
    Begun feed;
    feed.hear(batch(2, 450), wanted);
    const auto first = feed.take(1, 3).value();
    EXPECT_THAT(positions(first), ElementsAre(100, 200, 300));
    EXPECT_EQ(first.to, 300) << "what comes behind it is still to be taken";
    const auto second = feed.take(300, 3).value();
    EXPECT_THAT(positions(second), ElementsAre(400));
    EXPECT_EQ(second.to, 450);
}

TEST(Feed, KnowsNothingUntilSomethingWasHeard) {
    Feed feed;
    EXPECT_FALSE(feed.take(7, all)) << "nobody may be telling";
    feed.begin();
    EXPECT_FALSE(feed.take(7, all));
    EXPECT_TRUE(feed.hear(batch(9, 10), wanted)) << "its consumer reads";
    EXPECT_FALSE(feed.take(7, all)) << "8 is unknown";
    EXPECT_EQ(feed.take(8, all).value().to, 10);
}

TEST(Feed, KnowsThatNothingWasSinceItHears) {
    Feed feed;
    feed.hear_from(40);
    feed.begin();
    EXPECT_FALSE(feed.take(39, all)) << "40 may be wanted";
    EXPECT_EQ(feed.take(40, all).value().to, 40);
    feed.hear(batch(41, 100), wanted);
    EXPECT_THAT(positions(feed.take(40, all).value()), ElementsAre(100));
    feed.hear_from(50);
    EXPECT_EQ(feed.heard_to(), 100) << "it has heard more since";
}

TEST(Feed, DoesNotKnowWhatItDidNotHear) {
    Begun feed;
    EXPECT_FALSE(feed.hear(batch(2, 50), wanted));
    EXPECT_TRUE(feed.hear(batch(52, 60), wanted)) << "51 may be wanted";
    EXPECT_FALSE(feed.take(1, all));
    EXPECT_TRUE(feed.hear(batch(61, 61), wanted));
    EXPECT_EQ(feed.take(51, all).value().to, 61);
    EXPECT_FALSE(feed.hear(batch(62, 62), wanted));
}

TEST(Feed, HearsOnWhileItsConsumerReads) {
    Feed feed;
    feed.begin();
    feed.hear(batch(90, 150), wanted);
    EXPECT_FALSE(feed.take(1, all));
    feed.hear(batch(151, 210), wanted);
    // It has read up to 120 meanwhile.
    EXPECT_THAT(positions(feed.take(120, all).value()), ElementsAre(200));
}

TEST(Feed, GivesNothingTwice) {
    Begun feed;
    feed.hear(batch(2, 150), wanted);
    EXPECT_THAT(positions(feed.take(1, all).value()), ElementsAre(100));
    EXPECT_FALSE(feed.take(1, all)) << "what was taken is not there any more";
    feed.hear(batch(2, 250), wanted);
    EXPECT_THAT(positions(feed.take(150, all).value()), ElementsAre(200));
}

TEST(Feed, ForgetsTheOldestOfTooMany) {
    Begun feed;
    const auto every = [](const StoredEvent&) { return true; };
    const auto most = static_cast<std::int64_t>(Feed::most_kept);
    feed.hear(batch(2, most + 5), every);
    EXPECT_FALSE(feed.take(1, all));
    EXPECT_EQ(positions(feed.take(5, all).value()).front(), 6);
}

TEST(Feed, KeepsNothingForAConsumerOfAnotherServer) {
    Begun feed;
    feed.end();
    EXPECT_FALSE(feed.hear(batch(2, 100), wanted));
    feed.begin();
    EXPECT_FALSE(feed.take(1, all));
}

TEST(Consumers, CostNothingWhenNothingThatHappensIsWanted) {
    EventsFixture fixture;
    Heard heard;
    auto settings = Site::brisk();
    settings.keep_every = 1h;
    Site site(fixture, {reader_of_updates(heard)}, settings);
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    const auto at = [&](std::int64_t position) {
        return eventually([&] { return site.consumers().load().front().position == position; });
    };
    emit(fixture, 1);
    ASSERT_TRUE(at(1));
    std::this_thread::sleep_for(100ms);
    const auto before = last_statement(fixture);
    ASSERT_FALSE(before.empty());
    emit(fixture, 50);
    ASSERT_TRUE(at(51));
    EXPECT_EQ(last_statement(fixture), before);
    EXPECT_EQ(kept_position(fixture), "0") << "it is written down every so often";

    emit_update(fixture);
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    EXPECT_EQ(heard.all().front().position, 52);
    EXPECT_EQ(kept_position(fixture), "52");
}

TEST(Consumers, AskNothingAsLongAsNothingHappens) {
    EventsFixture fixture;
    Heard heard;
    {
        Site earlier(fixture, {reader_of_updates(heard)});
        ASSERT_TRUE(eventually([&] { return earlier.working(); }));
        emit(fixture, 3);
        emit_update(fixture);
        ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    }
    Site site(fixture, {reader_of_updates(heard)});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    std::this_thread::sleep_for(50ms);
    const auto before = last_statement(fixture);
    ASSERT_FALSE(before.empty());
    std::this_thread::sleep_for(200ms);  // in which it looks about twenty times
    EXPECT_EQ(last_statement(fixture), before);
    emit_update(fixture);
    EXPECT_TRUE(eventually([&] { return heard.size() == 2; }));
}

TEST(Consumers, ReadNothingOfWhatTheirServerHeard) {
    EventsFixture fixture;
    const auto database = fixture.another_server();
    jobs::Pool jobs({.poll = 10ms, .lease = 2'000ms});
    std::atomic<std::size_t> recorded{0};
    Consumer recorder = consumer("reader", {});
    recorder.record = [&](Tx&, std::span<const StoredEvent> events) { recorded += events.size(); };
    Consumers consumers(*database, jobs, {recorder}, Site::brisk());
    consumers.start();
    ASSERT_TRUE(eventually([&] { return consumers.load().front().working; }));
    // No table has any of these.
    consumers.wake(batch(1, 20));
    EXPECT_TRUE(eventually([&] { return recorded == 20; }));
    EXPECT_TRUE(eventually([&] { return kept_position(fixture) == "20"; }));
}

TEST(Consumers, WriteDownWhereTheyAreNowAndThenAndInTheEnd) {
    EventsFixture fixture;
    Heard heard;
    auto settings = Site::brisk();
    settings.keep_events = 10;
    {
        Site site(fixture, {reader_of_updates(heard)}, settings);
        ASSERT_TRUE(eventually([&] { return site.working(); }));
        emit(fixture, 12);
        ASSERT_TRUE(eventually([&] { return std::stoi(kept_position(fixture)) >= 10; }));
        emit(fixture, 3);
        ASSERT_TRUE(eventually([&] { return site.consumers().load().front().position == 15; }));
    }
    EXPECT_EQ(kept_position(fixture), "15");
}

// Else one failure had them look at all of it again, and again.
TEST(Consumers, WriteDownWhereTheyAreWhileTheyCatchUp) {
    EventsFixture fixture;
    Heard heard;
    {
        const Site site(fixture, {reader_of_updates(heard)});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
    }
    {
        const Site without(fixture, {});
        emit(fixture, 60);
        ASSERT_TRUE(eventually([&] { return fixture.all_sequenced(); }));
    }
    auto stumbling = reader_of_updates(heard);
    stumbling.subscribers = [](const StoredEvent& event) {
        if (event.position > 50) throw std::runtime_error("no further");
        return std::vector<std::string>{};
    };
    auto settings = Site::brisk();
    settings.keep_events = 10;
    settings.keep_every = 1h;
    const Site site(fixture, {stumbling}, settings);
    EXPECT_TRUE(eventually([&] { return std::stoi(kept_position(fixture)) >= 30; }));
}

TEST(Consumers, HandOverOnceWhateverOfTheirPositionWasLost) {
    EventsFixture fixture;
    Heard heard;
    Site first(fixture, {reader_of_updates(heard)}), second(fixture, {reader_of_updates(heard)});
    ASSERT_TRUE(eventually([&] { return first.working() || second.working(); }));
    for (std::size_t round = 1; round <= 5; ++round) {
        emit(fixture, 7);
        emit_update(fixture);
        emit(fixture, 7);
        fixture.ask(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' "
            "AND objid <> 1 AND database = (SELECT oid FROM pg_database WHERE datname = "
            "current_database())"
        );
        ASSERT_TRUE(eventually([&] { return heard.size() >= round; }));
    }
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(heard.size(), 5u);
}

}  // namespace svc::test

#include "events/feed.hpp"

#include "tests/unit/events/site.hpp"

namespace svc::test {

namespace {

using events::Feed;

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

/// One that has heard of the first event and looked.
struct CaughtUp : Feed {
    CaughtUp() {
        hear(batch(1, 1), wanted);
        caught_up(1);
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
    CaughtUp feed;
    EXPECT_FALSE(feed.hear(batch(2, 50), wanted));
    EXPECT_FALSE(feed.has_to_look());
    EXPECT_EQ(feed.clear_from(1), 50);
    EXPECT_TRUE(feed.hear(batch(51, 120), wanted));
    EXPECT_EQ(feed.clear_from(1), 99);
    EXPECT_TRUE(feed.has_to_look());
    EXPECT_FALSE(feed.caught_up(120));
    EXPECT_FALSE(feed.has_to_look());
}

TEST(Feed, HasOneLookUntilSomethingWasHeard) {
    Feed feed;
    EXPECT_TRUE(feed.has_to_look());
    feed.caught_up(7);
    EXPECT_TRUE(feed.has_to_look()) << "nobody may be telling";
    EXPECT_EQ(feed.clear_from(7), 7);
}

TEST(Feed, HasOneLookForWhatItDidNotHear) {
    CaughtUp feed;
    EXPECT_TRUE(feed.hear(batch(3, 4), wanted));
    EXPECT_EQ(feed.clear_from(1), 1);
    EXPECT_FALSE(feed.caught_up(4));
    EXPECT_FALSE(feed.hear(batch(5, 5), wanted));
}

TEST(Feed, HasOneLookAgainForWhatWasHeardDuringALook) {
    CaughtUp feed;
    EXPECT_TRUE(feed.hear(batch(2, 100), wanted));
    EXPECT_TRUE(feed.hear(batch(101, 101), wanted));
    EXPECT_TRUE(feed.caught_up(100)) << "the look saw no more than 100";
    EXPECT_FALSE(feed.caught_up(101));
}

TEST(Feed, KnowsNothingOfWhatWasBeforeItBegan) {
    CaughtUp feed;
    feed.hear(batch(2, 50), wanted);
    EXPECT_EQ(feed.clear_from(0), 0);
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

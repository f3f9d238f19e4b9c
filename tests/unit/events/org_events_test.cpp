#include "svc/org_events.hpp"

#include "tests/unit/events/site.hpp"

/// A workspace's events, read in their order.
namespace svc::test {

namespace {

class OrgEvents : public testing::Test {
protected:
    OrgEvents() {
        emit(fixture, 10, org);
        emit(fixture, 4, other);
        for (const Uuid& board : {first_board, second_board, first_board})
            fixture.write(org, [&](Tx& tx) {
                Note note;
                note.id = new_uuid();
                note.title = "on a board";
                emit_as_system(tx, org, "pin_note", created(note_pinned, note).on_board(board));
            });
        sequence();
    }
    void sequence() {
        events::Sequencer sequencer(fixture.database, {});
        ASSERT_TRUE(eventually([&] { return fixture.all_sequenced(); }));
    }
    EventPage read(const EventRange& range) {
        EventPage page;
        fixture.database.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(org, std::nullopt);
            page = read_events(tx, org, range)();
        });
        return page;
    }
    static std::vector<std::int64_t> sequences(const EventPage& page) {
        std::vector<std::int64_t> out;
        for (const StoredEvent& each : page.events) out.push_back(each.sequence);
        return out;
    }
    /// Page by page, as a reader does.
    std::vector<std::int64_t> all(EventRange range) {
        std::vector<std::int64_t> out;
        for (;;) {
            const auto page = read(range);
            for (const auto each : sequences(page)) out.push_back(each);
            if (page.is_last()) return out;
            EXPECT_GT(page.to, range.after) << "a page leads on";
            range.after = page.to;
        }
    }

    EventsFixture fixture;
    const Uuid org = new_uuid(), other = new_uuid(), first_board = new_uuid(),
               second_board = new_uuid();
};

using Sequences = std::vector<std::int64_t>;

TEST_F(OrgEvents, ComeInTheirOrderWhateverThePagesAre) {
    const Sequences everything{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    EXPECT_EQ(all({}), everything);
    EXPECT_EQ(all({.count = 1}), everything);
    EXPECT_EQ(all({.count = 3}), everything);
    EXPECT_EQ(all({.look_at = 2}), everything);
    EXPECT_EQ(all({.bytes = 1}), everything) << "one always comes";
    EXPECT_EQ(all({.after = 11}), (Sequences{12, 13}));
    EXPECT_EQ(read({.after = 13}).to, 13);
    EXPECT_TRUE(read({.after = 13}).is_last());
}

TEST_F(OrgEvents, AFilterPassesWhatKindMatchesPasses) {
    EXPECT_EQ(all({.board = first_board}), (Sequences{11, 13}));
    EXPECT_EQ(all({.board = first_board, .look_at = 3}), (Sequences{11, 13}));
    for (const std::vector<std::string>& kinds : std::vector<std::vector<std::string>>{
             {"note.created"},
             {"note.pinned"},
             {"note.*"},
             {"*"},
             {"no.*"},
             {"note.created", "note.pinned"},
             {"notes.created", "not*"},
             {"card.*", "note.pinned"}
         }) {
        Sequences expected;
        for (const StoredEvent& each : read({}).events)
            if (std::ranges::any_of(kinds, [&](const auto& filter) {
                    return kind_matches(filter, each.kind);
                }))
                expected.push_back(each.sequence);
        EXPECT_EQ(all({.kinds = kinds, .count = 2}), expected) << kinds.front();
    }
}

TEST_F(OrgEvents, WhatIsNoLongerKeptIsMissing) {
    fixture.ask(
        "UPDATE event_heads SET dropped = 5 WHERE org_id = '" + org.str() + "' RETURNING 1"
    );
    const auto page = read({.after = 2});
    EXPECT_EQ(page.oldest, 6);
    EXPECT_TRUE(page.is_gap(2));
    EXPECT_FALSE(page.is_gap(5));
    EXPECT_EQ(sequences(page).front(), 6);
    EXPECT_EQ(all({.count = 2}), (Sequences{6, 7, 8, 9, 10, 11, 12, 13}));
}

TEST_F(OrgEvents, AWorkspaceWithoutAnyIsReadToItsEnd) {
    const auto page = [&] {
        EventPage empty;
        const Uuid nobody = new_uuid();
        fixture.database.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(nobody, std::nullopt);
            empty = read_events(tx, nobody, {})();
        });
        return empty;
    }();
    EXPECT_TRUE(page.events.empty());
    EXPECT_TRUE(page.is_last());
    EXPECT_FALSE(page.is_gap(0));
}

TEST_F(OrgEvents, AnEnvelopeHasTheSameBytesAsTheListenersGot) {
    Heard heard;
    events::Sequencer sequencer(fixture.database, {[&](std::span<const StoredEvent> batch) {
                                    heard.add(batch);
                                }});
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading; }));
    emit(fixture, 3, org);
    ASSERT_TRUE(eventually([&] { return heard.size() == 3; }));
    const auto page = read({.after = 13});
    ASSERT_EQ(page.events.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(page.events[i].envelope, heard.all()[i].envelope);
}

}  // namespace

}  // namespace svc::test

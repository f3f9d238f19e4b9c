#include "tests/unit/live/hub_fixture.hpp"

#include "tests/support/memory.hpp"

/// How events are handed out and caught up with, step by step.
namespace svc::test {

namespace {

using Sequences = std::vector<std::int64_t>;

TEST_F(HubTest, AnEventThatIsLeftOutIsReadFromTheRecord) {
    make_cards(1);
    const auto reader = open(desk.owner, {{{}, from_now}});
    stored(1);
    look();
    make_cards(4);
    const auto all = stored(5);
    hand_out(all[1]);
    hand_out(all[3]);  // without the one before
    look();
    hand_out(all[4]);
    EXPECT_EQ(sequences_of(reader), Sequences({2, 3, 4, 5}));
}

TEST_F(HubTest, TheFirstEventThatIsHandedOutMayBeTheOneAfterALostOne) {
    make_cards(1);
    stored(1);
    const auto reader = open(desk.owner, {{{}, from_now}});
    look();
    make_cards(2);
    hand_out(stored(3)[2]);
    look();
    EXPECT_EQ(sequences_of(reader), Sequences({2, 3}));
}

TEST_F(HubTest, WhatWasLostIsReadBeforeAnythingNewIsSent) {
    make_cards(2);
    hand_out(stored(2)[0]);
    const auto attached = open(desk.owner, {{{}, from_now}});
    look();
    hand_out(stored(2)[1]);
    const auto looked_after = open(desk.owner, {{{}, 1}});
    std::uint64_t ticket = 0;
    {
        const std::lock_guard lock(feed->mutex());
        ticket = feed->take_waiting(10).begin()->first;
    }
    make_cards(3);
    const auto all = stored(5);
    feed->start_over();  // 3 and 4 were thrown away
    {
        const std::lock_guard lock(feed->mutex());
        EXPECT_EQ(feed->reading(ticket), nullptr) << "what is being read is too old";
    }
    look();
    hand_out(all[4]);
    EXPECT_EQ(sequences_of(attached), Sequences({2, 3, 4, 5}));
    EXPECT_EQ(sequences_of(looked_after), Sequences({2, 3, 4, 5}));
}

TEST_F(HubTest, EventsThatComeFasterThanTheyAreHandedOutAreNotLost) {
    hub.start();
    const auto reader = open(desk.owner, {{{}, from_now}}, hub.feed_of(*desk.owner.org_id));
    ASSERT_TRUE(eventually([&] { return reader.reader->attached == 1; }));
    make_cards(20);
    const auto all = stored(20);
    for (std::size_t i = 0; i < all.size(); i += 5) hub.hear(std::span(all).subspan(i, 5));
    EXPECT_TRUE(eventually([&] { return reader.stream->frames().size() >= 20; }));
    Sequences expected;
    for (const StoredEvent& each : all) expected.push_back(each.sequence);
    EXPECT_EQ(sequences_of(reader), expected);
    EXPECT_GT(hub.load().lost, 0u);
}

TEST_F(HubTest, AFailureInTheMiddleOfAnEventNeitherLosesNorRepeatsIt) {
    roomy.start();
    const auto of = roomy.feed_of(*desk.owner.org_id);
    std::vector<Open> readers;
    for (int i = 0; i < 3; ++i) {
        readers.push_back(open(desk.owner, {{{}, from_now}}, of));
        ASSERT_TRUE(eventually([&] { return readers.back().reader->attached == 1; }));
    }
    std::atomic<int> failures = 0;
    readers[1].stream->on_send = [&](const std::string&) {
        if (failures++ < 2) throw std::bad_alloc();  // when it is handed out, and looked up
    };
    make_cards(5);
    const auto all = stored(5);
    roomy.hear(all);
    for (const Open& each : readers) {
        EXPECT_TRUE(eventually([&] { return each.stream->frames().size() >= 5; }));
        EXPECT_EQ(sequences_of(each), Sequences({1, 2, 3, 4, 5}));
    }
    EXPECT_GE(failures, 3);
}

TEST_F(HubTest, AWorkspaceWhereLittleHappensDoesNotWaitForThoseWhereMuchDoes) {
    constexpr std::size_t busy_events = 200;
    roomy.start();
    const auto of_org = [&](const Uuid& org, std::size_t count) {
        std::vector<StoredEvent> events(count);
        for (std::size_t i = 0; i < count; ++i) {
            events[i].org_id = org;
            events[i].sequence = static_cast<std::int64_t>(i) + 1;
            events[i].kind = "org.updated";
            events[i].envelope = R"({"sequence":)" + std::to_string(i + 1) + "}";
        }
        return events;
    };
    std::vector<Uuid> orgs;
    std::vector<Open> readers;
    for (int i = 0; i < 5; ++i) {
        orgs.push_back(new_uuid());
        readers.push_back(open(desk.owner, {{{}, from_now}}, roomy.feed_of(orgs.back())));
        ASSERT_TRUE(eventually([&] { return readers.back().reader->attached == 1; }));
    }
    const Open& quiet = readers.back();
    for (std::size_t i = 0; i + 1 < readers.size(); ++i) {
        readers[i].stream->on_send = [](const std::string&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        };
        roomy.hear(of_org(orgs[i], busy_events));
    }
    const auto sent = [&] {
        std::size_t frames = 0;
        for (std::size_t i = 0; i + 1 < readers.size(); ++i)
            frames += readers[i].stream->frames().size();
        return frames;
    };
    std::atomic<std::size_t> before_it{0};
    quiet.stream->on_send = [&](const std::string&) { before_it = sent(); };
    roomy.hear(of_org(orgs.back(), 1));
    const auto by_then = sent();
    for (const Open& each : readers) {
        const std::size_t all = &each == &quiet ? 1 : busy_events;
        EXPECT_TRUE(eventually([&] { return each.stream->frames().size() == all; }));
    }
    EXPECT_LT(before_it, by_then + busy_events) << "a turn of each comes before it, and no more";
}

// ---------------------------------------------------------------------------------------- rights

/// A board that is open to one person by a grant.
class RightsThatEnd : public HubTest {
protected:
    RightsThatEnd() {
        in_process().must(
            desk.owner, "update_board", {{"board_id", desk.board.str()}, {"visibility", "private"}}
        );
        guest = in_process().person(desk.owner, OrgRole::member, "Gus Guest");
        in_process().grant(desk.board, guest, "viewer");
        stored(1);
    }
    /// 2: the grant ends, 3: a card.
    std::vector<StoredEvent> end_grant() {
        in_process().must(
            desk.owner,
            "delete_board_grant",
            {{"board_id", desk.board.str()}, {"principal_id", guest.id.str()}}
        );
        make_cards(1);
        return stored(3);
    }

    Caller guest;
};

TEST_F(RightsThatEnd, WhoResumesBeforeThatIsHandedOutIsJudgedByWhatHolds) {
    const auto known = open(guest, {{{desk.board}, from_now}});
    look();
    ASSERT_EQ(state_of(known.first()), State::attached) << "its role is known from here on";
    const auto all = end_grant();
    const auto on_board = open(guest, {{{desk.board, {"card.*"}}, 0}});
    const auto everywhere = open(guest, {{{}, 0}});
    look();
    EXPECT_EQ(on_board.reader->refused, 1);
    EXPECT_TRUE(sequences_of(on_board).empty());
    EXPECT_TRUE(sequences_of(everywhere).empty());
    hand_out(all[1]);
    look();
    EXPECT_EQ(known.reader->refused, 1);
    hand_out(all[2]);
    look();
    EXPECT_TRUE(sequences_of(known).empty());
    EXPECT_TRUE(sequences_of(everywhere).empty());
}

TEST_F(RightsThatEnd, WhoIsAheadOfThatIsJudgedAnewAllTheSame) {
    const auto ahead = open(desk.owner, {{{desk.board, {"nothing.*"}}, 0}});
    const auto all = end_grant();
    look();
    ASSERT_EQ(state_of(ahead.first()), State::attached);
    hand_out(all[1]);
    EXPECT_EQ(state_of(ahead.first()), State::waiting);
    look();
    EXPECT_EQ(state_of(ahead.first()), State::attached);
}

// ------------------------------------------------------------------------------- what is sent when

TEST_F(HubTest, AnEventIsDoneWhenEverybodyHasIt) {
    make_cards(2);
    const auto all = stored(2);
    const auto reader = open(desk.owner, {{{}, 0}});
    look();
    make_cards(1);
    std::int64_t done = -1;
    reader.stream->on_send = [&](const std::string&) { done = feed->done(); };
    hand_out(stored(3)[2]);
    EXPECT_EQ(done, 2) << "a keep-alive between says this one";
    EXPECT_EQ(feed->done(), 3);
}

TEST_F(HubTest, ManySubscriptionsOfOneStreamCatchUpWithinItsBounds) {
    make_cards(20, std::string(400, 'x'));
    stored(20);
    std::vector<std::pair<live::Filter, std::int64_t>> wanted(60, {live::Filter{}, 0});
    const auto reader = open(desk.owner, wanted);
    reader.stream->holds_back = true;
    for (int i = 0; i < 2'000 && reader.stream->frames().size() < 1'200; ++i) {
        look();
        reader.stream->drain();
    }
    EXPECT_EQ(reader.stream->frames().size(), 1'200u);
    EXPECT_LE(reader.stream->most_backlog(), 64u << 10);
    look();
    EXPECT_EQ(reader.reader->attached, 60);
}

TEST_F(HubTest, ALargeEventWaitsUntilWhatIsBeforeItIsSent) {
    make_cards(1);
    const auto small = stored(1)[0];
    StoredEvent large = small;
    large.sequence = 2;
    large.envelope.insert(large.envelope.size() - 1, ",\"x\":\"" + std::string(100'000, 'x') + '"');
    hand_out(small);
    hand_out(large);
    const auto reader = open(desk.owner, {{{}, 0}});
    reader.stream->holds_back = true;
    look();
    look();
    EXPECT_EQ(sequences_of(reader), Sequences({1}));
    reader.stream->drain();
    look();
    EXPECT_EQ(reader.stream->frames().size(), 2u);
}

TEST_F(HubTest, AStreamThatEndedBeforeItBeganIsNotKnown) {
    const auto reader = open(desk.owner, {{{}, from_now}});
    look();
    reader.reader->ended();
    reader.stream->close();
    reader.reader->begin(reader.stream);
    const std::lock_guard lock(feed->mutex());
    EXPECT_EQ(feed->readers(), 0u);
    EXPECT_FALSE(feed->anybody_waits());
}

// ---------------------------------------------------------------------------------------- memory

TEST_F(HubTest, BoardsThatNobodyHasHeardOfLeaveNothing) {
    std::vector<std::pair<live::Filter, std::int64_t>> wanted;
    for (int i = 0; i < 60; ++i) wanted.push_back({live::Filter{new_uuid()}, from_now});
    const auto reader = open(desk.owner, wanted);
    look();
    EXPECT_EQ(reader.reader->refused, 60);
    EXPECT_EQ(feed->boards(), 0u);
    // Nor does one that goes before anybody has answered.
    const auto hasty = open(desk.owner, {{{new_uuid()}, from_now}});
    {
        const std::lock_guard lock(feed->mutex());
        feed->take_waiting(10);
        feed->number_of(*hasty.first().wanted->filter.board);
    }
    hasty.reader->ended();
    EXPECT_EQ(feed->boards(), 0u);
}

TEST_F(HubTest, ComingAndGoingOnAQuietListTakesNoMemory) {
    const auto reader = open(desk.owner, {{{desk.board}, from_now}, {{}, from_now}});
    look();
    ASSERT_EQ(reader.reader->attached, 2);
    const auto before = resident_bytes();
    for (int i = 0; i < 2'000'000; ++i) {
        const std::lock_guard lock(feed->mutex());
        live::Subscription& one = reader.reader->subscriptions.back();
        feed->unsubscribe(one);
        feed->attach(one);
    }
    if (memory_is_given_back) {
        EXPECT_LT(resident_bytes(), before + (4u << 20));
    }
}

TEST_F(HubTest, FramesOfACatchUpAreLetGo) {
    make_cards(3);
    for (const StoredEvent& each : stored(3)) hand_out(each);
    const auto reader = open(desk.owner, {{{}, 1}});
    look();
    ASSERT_EQ(sequences_of(reader), Sequences({2, 3}));
    auto frames = reader.stream->frames();
    for (const auto& each : frames) EXPECT_EQ(each.use_count(), 2) << "the stream's, and ours";
}

}  // namespace

}  // namespace svc::test

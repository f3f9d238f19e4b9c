#include "events/sequencer.hpp"

#include "tests/unit/bus/hub.hpp"
#include "tests/unit/events/events_fixture.hpp"

/// Sequencers of several servers, which wake each other.
namespace svc::test {

namespace {

using events::Sequencer;

/// So seldom that nothing is found by it while a test lasts.
Sequencer::Settings hardly_polling() {
    Sequencer::Settings settings;
    settings.busy_poll = settings.idle_poll = 60s;
    settings.follow_poll = settings.lock_retry = 60s;
    return settings;
}

struct Node {
    Node(db::Database& database, Hub& hub, Sequencer::Settings settings)
        : bus(brisk_bus()),
          sequencer(database, {[this](auto batch) { heard.add(batch); }}, settings, &bus) {
        bus.start(hub, "workboard_test", [](std::string_view) { return std::string(32, 's'); });
    }
    ~Node() { leave(); }
    void leave() {
        sequencer.stop();
        bus.stop();
    }
    bool follows() const {
        return sequencer.load().position != Sequencer::Load::unknown && !sequencer.load().leading;
    }

    Heard heard;
    bus::ServerBus bus;
    Sequencer sequencer;
};

void write_one(db::Database& database) {
    database.transact(Tx::Mode::write, [&](Tx& tx) {
        const Uuid org = new_uuid();
        tx.set_scope(org, std::nullopt);
        Note note;
        note.id = new_uuid();
        note.title = "Milk";
        emit_as_system(tx, org, "job", created(note_created, note).in_org(org));
    });
}

}  // namespace

TEST(WokenSequencers, BringWhatOneOfThemWroteToAllWithoutPolling) {
    EventsFixture fixture;
    const auto second_server = fixture.another_server(), third_server = fixture.another_server();
    Hub hub;
    Node first(fixture.database, hub, hardly_polling());
    ASSERT_TRUE(eventually([&] { return first.sequencer.load().leading; }));
    Node second(*second_server, hub, hardly_polling()), third(*third_server, hub, hardly_polling());
    ASSERT_TRUE(eventually([&] { return second.follows() && third.follows(); }));
    for (const Node* each : {&first, &second, &third})
        ASSERT_TRUE(eventually([&] { return each->bus.load().peers == 2; }));

    for (std::size_t round = 1; round <= 20; ++round) {
        write_one(*second_server);
        second.sequencer.nudge();
        for (const Node* each : {&first, &second, &third})
            ASSERT_TRUE(eventually([&] { return each->heard.size() == round; })) << round;
    }
}

TEST(WokenSequencers, GoOnAtOnceWhenTheLeaderLeaves) {
    EventsFixture fixture;
    const auto second_server = fixture.another_server();
    Hub hub;
    Node first(fixture.database, hub, hardly_polling());
    ASSERT_TRUE(eventually([&] { return first.sequencer.load().leading; }));
    Node second(*second_server, hub, hardly_polling());
    ASSERT_TRUE(eventually([&] { return second.follows() && first.bus.load().peers == 1; }));
    first.leave();
    EXPECT_TRUE(eventually([&] { return second.sequencer.load().leading; }));
    write_one(*second_server);
    second.sequencer.nudge();
    EXPECT_TRUE(eventually([&] { return second.heard.size() == 1; }));
}

TEST(WokenSequencers, FindEverythingByPollingWhileTheBusIsDown) {
    EventsFixture fixture;
    const auto second_server = fixture.another_server();
    Hub hub;
    hub.is_down = true;
    Node first(fixture.database, hub, {});
    ASSERT_TRUE(eventually([&] { return first.sequencer.load().leading; }));
    Node second(*second_server, hub, {});
    ASSERT_TRUE(eventually([&] { return second.follows(); }));
    for (std::size_t round = 1; round <= 3; ++round) {
        write_one(*second_server);
        second.sequencer.nudge();
        for (const Node* each : {&first, &second})
            ASSERT_TRUE(eventually([&] { return each->heard.size() == round; }, 10s)) << round;
    }
}

}  // namespace svc::test

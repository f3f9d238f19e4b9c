#pragma once

#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

using events::Consumers;
using events::Sequencer;

inline Consumers::Settings brisk() {
    Consumers::Settings settings;
    settings.poll = 10ms;
    settings.lock_retry = 20ms;
    settings.pause = 10ms;
    settings.longest_pause = 40ms;
    settings.tries = 6;
    settings.batch = 7;
    settings.turn = 20ms;
    settings.keep_every = 20ms;
    return settings;
}

/// A server: its database, a sequencer and the consumers.
class Site {
public:
    explicit Site(EventsFixture& fixture, std::vector<Consumer> consumers)
        : database_(fixture.another_server()),
          consumers_(*database_, std::move(consumers), brisk()),
          sequencer_(*database_, {[this](auto batch) { consumers_.wake(batch); }}, quick()) {}

    static Sequencer::Settings quick() {
        Sequencer::Settings settings;
        settings.idle_poll = 10ms;
        settings.follow_poll = 10ms;
        settings.lock_retry = 20ms;
        return settings;
    }
    Consumers& consumers() { return consumers_; }
    bool working() const { return consumers_.load().front().working; }

private:
    std::unique_ptr<db::Database> database_;
    Consumers consumers_;
    Sequencer sequencer_;
};

inline void tell(EventsFixture& fixture, int count, const Uuid& org = new_uuid()) {
    for (int i = 0; i < count; ++i)
        fixture.write(org, [&](Tx& tx) {
            Note note;
            note.id = new_uuid();
            note.title = "n" + std::to_string(i);
            tell_as_system(tx, org, "write_note", created(note_created, note));
        });
}

}  // namespace svc::test

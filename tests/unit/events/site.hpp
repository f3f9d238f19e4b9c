#pragma once

#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "jobs/pool.hpp"
#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

using events::Consumers;
using events::Sequencer;

/// A consumer for which every event is one subscriber's, and that waits little after a failure.
inline Consumer consumer(std::string name, std::function<void(const StoredEvent&)> handle) {
    return {
        .name = std::move(name),
        .subscribers = [](const StoredEvent&) { return std::vector<std::string>{"all"}; },
        .deliver = [handle = std::move(handle
                    )](const std::string&, const StoredEvent& event) { handle(event); },
        .most_attempts = 6,
        .pause = 10ms,
        .longest_pause = 40ms,
        .slice = 20ms,
    };
}

/// A server: its database, its jobs, a sequencer and the consumers.
class Site {
public:
    Site(
        EventsFixture& fixture,
        std::vector<Consumer> consumers,
        const Consumers::Settings& settings = brisk()
    )
        : database_(fixture.another_server()),
          jobs_({.poll = 10ms, .lease = 2'000ms}),
          consumers_(*database_, jobs_, std::move(consumers), settings),
          sequencer_(*database_, {[this](auto batch) { consumers_.wake(batch); }}, quick()) {
        jobs_.start(*database_);
        consumers_.start(sequencer_.emits_after());
    }
    ~Site() {
        sequencer_.stop();
        consumers_.stop();
        jobs_.stop();
    }

    static Consumers::Settings brisk() { return {.poll = 10ms, .lock_retry = 20ms, .batch = 7}; }
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
    jobs::Pool jobs_;
    Consumers consumers_;
    Sequencer sequencer_;
};

inline void emit(EventsFixture& fixture, int count, const Uuid& org = new_uuid()) {
    for (int i = 0; i < count; ++i)
        fixture.write(org, [&](Tx& tx) {
            Note note;
            note.id = new_uuid();
            note.title = "n" + std::to_string(i);
            emit_as_system(tx, org, "write_note", created(note_created, note));
        });
}

}  // namespace svc::test

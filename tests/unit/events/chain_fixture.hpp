#pragma once

#include "events/chain.hpp"
#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

/// Writers into the log, and the steps of a sequencer one by one.
class ChainFixture {
public:
    static Event note_of(const Uuid& org, std::size_t length = 1) {
        Note note;
        note.id = new_uuid();
        note.title = std::string(length, 'x');
        return created(note_created, note).in_org(org);
    }

    void emit(const Uuid& org, std::size_t length = 1) {
        fixture.write(org, [&](Tx& tx) {
            events::queue_event(tx, note_of(org, length), {.action = "write_note"});
        });
    }

    /// A transaction whose row has its id, and that nobody else can see.
    std::unique_ptr<Tx> hold_back(const Uuid& org) {
        auto tx = fixture.database.begin(Tx::Mode::write);
        tx->set_scope(org, std::nullopt);
        events::queue_event(*tx, note_of(org), {.action = "write_note"});
        tx->run({"test.now", "SELECT 1"});
        return tx;
    }

    std::unique_ptr<Tx> begin() {
        auto tx = fixture.database.begin(Tx::Mode::write);
        tx->set_scope_to_all_orgs();
        return tx;
    }
    std::size_t take(events::Chain& chain, int rows = 100, std::int64_t bytes = 1 << 20) {
        return chain.take(*begin(), rows, bytes);
    }
    events::Sequenced write(events::Chain& chain) { return chain.write(*begin()); }
    std::size_t sequence(events::Chain& chain, int rows = 100, std::int64_t bytes = 1 << 20) {
        const auto taken = take(chain, rows, bytes);
        if (taken > 0) write(chain);
        return taken;
    }
    /// As it is written down.
    std::int64_t low_water() const {
        return std::stoll(fixture.ask("SELECT low_water FROM event_position"));
    }

    /// Its own: transactions of any database of a cluster may hold up what is forgotten.
    static Postgres& cluster() {
        static Postgres own(Postgres::Disk::fast);
        return own;
    }

    EventsFixture fixture{cluster()};
};

}  // namespace svc::test

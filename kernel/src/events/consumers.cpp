#include "events/consumers.hpp"

#include "decl/utf8.hpp"
#include "events/backlogs.hpp"
#include "events/pulse.hpp"
#include "events/stored.hpp"
#include "events/turns.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <thread>

namespace svc::events {

namespace {

constexpr std::size_t longest_error = 2'000;  // bytes, of a dead letter

constexpr Sql open_position{"events.open_consumer", R"(
    INSERT INTO event_consumers (name, position)
    SELECT $1, position FROM event_position
    ON CONFLICT (name) DO NOTHING)"};

constexpr Sql read_position{"events.read_consumer", R"(
    SELECT position FROM event_consumers WHERE name = $1)"};

constexpr Sql keep_position{"events.keep_consumer", R"(
    UPDATE event_consumers SET position = $2, kept_at = now()
    WHERE name = $1 AND position < $2)"};

constexpr Sql add_dead_letter{"events.add_dead_letter", R"(
    INSERT INTO event_dead_letters (org_id, consumer, sequence, event_id, kind, error)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (org_id, consumer, sequence) DO UPDATE
    SET error = EXCLUDED.error, given_up_at = now())"};

/// As PostgreSQL takes it, whatever a handler threw.
std::string_view storable(std::string_view text) {
    if (!decl::utf8::well_formed(text)) return "an error whose text is not UTF-8";
    return decl::utf8::beginning(text, longest_error);
}

struct Position {
    std::int64_t position = 0;
};
SVC_RECORD(Position, (position));

/// FNV-1a, in a family of its own beside the sequencer's key.
std::int64_t lock_key(std::string_view name) {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (const unsigned char byte : name) hash = (hash ^ byte) * 0x0000'0100'0000'01b3;
    return static_cast<std::int64_t>(hash | 0x8000'0000'0000'0000);
}

Poco::Logger& log() { return Poco::Logger::get("events"); }

/// One consumer and its threads: one that sees what is new and keeps account, and those of its
/// turns.
class Worker {
public:
    Worker(db::Database& database, Consumer consumer, const Consumers::Settings& settings)
        : database_(database),
          consumer_(std::move(consumer)),
          settings_(settings),
          backlogs_(consumer_.name, consumer_.at_once),
          turns_(consumer_.handle, consumer_.at_once, pulse_),
          thread_([this] { run(); }) {}
    ~Worker() {
        end();
        join();
    }

    void ring() { pulse_.ring(); }
    void end() { pulse_.end(); }
    void join() {
        if (thread_.joinable()) thread_.join();
    }
    Consumers::Load load() const {
        return {consumer_.name, working_, failing_, position_, handled_, given_up_};
    }

private:
    void run() {
        while (!pulse_.ended()) try {
                if (const auto lock = database_.try_lock(lock_key(consumer_.name))) work(*lock);
                else pulse_.rest(jittered(settings_.lock_retry));
            } catch (const std::exception& error) {
                if (!away_) log().warning(of("waits for the database: ") + error.what());
                away_ = true;
                working_ = false;
                turns_.last_results();  // their events come again
                pulse_.rest(jittered(settings_.lock_retry));
            }
        working_ = false;
    }

    void work(db::Database::Lock& lock) {
        open(lock);
        working_ = true;
        if (std::exchange(away_, false)) log().information(of("goes on"));
        while (!pulse_.ended()) {
            // All that is new first, so that whoever has come meanwhile gets the next turn.
            while (look(lock) && !pulse_.ended()) continue;
            settle(lock, turns_.results());
            const auto now = Clock::now();
            if (Backlog* turn = turns_.room() ? backlogs_.next(now) : nullptr) {
                hand_over(lock, *turn);
            } else {
                if (turns_.running() == 0) keep(lock);
                wait(now);
            }
        }
        settle(lock, turns_.last_results());
        keep(lock);
    }

    void open(db::Database::Lock& lock) {
        const auto tx = lock.begin();
        tx->act_for_all_orgs();
        tx->queue(open_position, consumer_.name);
        seen_ = kept_ = tx->one<Position>(read_position, consumer_.name)->position;
        backlogs_.load(*tx);
        tx->commit();
        position_ = backlogs_.position(seen_);
    }

    /// Until there is something new, a turn is over, or somebody's pause.
    void wait(Clock::time_point now) {
        const auto until = backlogs_.wakes(now, now + settings_.poll);
        pulse_.wait(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()));
    }

    /// Sees whose events are new; whether there may be more. A round trip on the connection of the
    /// lock: it fails once the lock is lost.
    bool look(db::Database::Lock& lock) {
        const bool due = Clock::now() - kept_at_ > settings_.keep_every;
        const auto tx = lock.begin();
        tx->act_for_all_orgs();
        if (due) queue_state(*tx);
        auto later = whose_events_after(*tx, seen_, settings_.batch);
        tx->commit();
        if (due) kept();
        const auto events = later.all();
        if (events.empty()) return false;
        if (events.front().position != seen_ + 1)
            log().error(
                of("was away too long: ") + std::to_string(events.front().position - seen_ - 1) +
                " events are no longer kept"
            );
        for (const Whose& each : events) backlogs_.add(each.org_id, each.sequence, each.position);
        seen_ = events.back().position;
        changed_ = true;
        return events.size() == static_cast<std::size_t>(settings_.batch);
    }

    // Where it stands is written as a whole: everything up to the position is either handled or in
    // a backlog.
    void queue_state(Tx& tx) {
        if (seen_ > kept_) tx.queue(keep_position, consumer_.name, seen_);
        backlogs_.keep(tx);
    }

    void keep(db::Database::Lock& lock) {
        if (!changed_) return;
        const auto tx = lock.begin();
        tx->act_for_all_orgs();
        queue_state(*tx);
        tx->commit();
        kept();
    }

    void kept() {
        backlogs_.kept();
        kept_ = seen_;
        kept_at_ = Clock::now();
        changed_ = false;
        position_ = backlogs_.position(seen_);
    }

    /// A workspace's turn: some of its events, in their order.
    void hand_over(db::Database::Lock& lock, Backlog& turn) {
        const auto over = Clock::now() + settings_.turn;
        auto events = read(lock, turn);
        if (events.empty())  // they are no longer kept
            return done(turn, turn.until, turn.position);
        backlogs_.begin_turn(turn);
        turns_.begin(std::move(events), over);
    }

    /// Takes account of turns that are over.
    void settle(db::Database::Lock& lock, std::vector<Turns::Result> results) {
        for (const Turns::Result& each : results) {
            if (each.slow) backlogs_.was_slow(each.org_id, Clock::now());
            Backlog& turn = backlogs_.end_turn(each.org_id);
            if (each.handled > 0) succeed(turn, each);
            if (each.why) fail(lock, turn, each.events[each.handled], *each.why);
        }
    }

    std::vector<StoredEvent> read(db::Database::Lock& lock, const Backlog& turn) {
        const auto tx = lock.begin();
        tx->act_for(turn.org_id, std::nullopt);
        auto later = events_of(*tx, turn.org_id, turn.sequence, turn.until, settings_.events);
        tx->commit();
        return later.all();
    }

    void done(Backlog& turn, std::int64_t sequence, std::int64_t position) {
        backlogs_.handled(turn, sequence, position);
        changed_ = true;
    }

    void succeed(Backlog& turn, const Turns::Result& result) {
        handled_ += result.handled;
        const bool had_failed = turn.tries > 0;
        const StoredEvent& last = result.events[result.handled - 1];
        done(turn, last.sequence, last.position);
        if (!had_failed) return;
        log().information(of("goes on after event ") + result.events.front().event_id.str());
        failing_ = backlogs_.any_failing();
    }

    /// The workspace pauses; when it has done so often enough the event is put aside.
    void fail(
        db::Database::Lock& lock, Backlog& turn, const StoredEvent& event, const std::string& why
    ) {
        failing_ = true;
        changed_ = true;
        ++turn.tries;
        const std::string which = "event " + event.event_id.str() + " (" + event.kind + "): " + why;
        if (turn.tries == 1) log().error(of("fails at ") + which);
        const auto pause = pause_after(turn.tries);
        backlogs_.pause(turn, Clock::now() + pause);
        // Where the database is what fails, this fails too, and the try has not been counted.
        keep(lock);
        if (turn.tries < settings_.tries) return;
        const auto tx = lock.begin();
        tx->act_for(turn.org_id, std::nullopt);
        tx->queue(
            add_dead_letter,
            turn.org_id,
            consumer_.name,
            event.sequence,
            event.event_id,
            event.kind,
            storable(why)
        );
        tx->commit();
        log().error(
            of("gives up after ") + std::to_string(turn.tries) +
            " tries, see event_dead_letters: " + which
        );
        ++given_up_;
        backlogs_.pause(turn, {});
        done(turn, event.sequence, event.position);
        failing_ = backlogs_.any_failing();
    }

    std::chrono::milliseconds pause_after(std::int64_t tries) const {
        auto pause = settings_.pause;
        for (; tries > 1 && pause < settings_.longest_pause; --tries) pause *= 2;
        return std::min(pause, settings_.longest_pause);
    }

    std::string of(std::string_view what) const {
        return "consumer " + consumer_.name + " " + std::string(what);
    }

    db::Database& database_;
    const Consumer consumer_;
    const Consumers::Settings settings_;
    Pulse pulse_;
    Backlogs backlogs_;
    bool away_ = false, changed_ = false;
    std::int64_t seen_ = 0, kept_ = 0;
    Clock::time_point kept_at_{};
    std::atomic<bool> working_{false}, failing_{false};
    std::atomic<std::int64_t> position_{0};
    std::atomic<std::uint64_t> handled_{0}, given_up_{0};
    Turns turns_;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace

class Consumers::Impl {
public:
    Impl(db::Database& database, std::vector<Consumer> consumers, const Settings& settings) {
        for (Consumer& each : consumers)
            workers_.push_back(std::make_unique<Worker>(database, std::move(each), settings));
    }

    std::vector<std::unique_ptr<Worker>> workers_;
};

Consumers::Consumers(db::Database& database, std::vector<Consumer> consumers)
    : Consumers(database, std::move(consumers), Settings()) {}
Consumers::Consumers(db::Database& database, std::vector<Consumer> consumers, Settings settings)
    : impl_(std::make_unique<Impl>(database, std::move(consumers), settings)) {}
Consumers::~Consumers() { stop(); }

void Consumers::wake(std::span<const StoredEvent> batch) {
    if (batch.empty()) return;
    for (const auto& worker : impl_->workers_) worker->ring();
}

void Consumers::stop() noexcept {
    for (const auto& worker : impl_->workers_) worker->end();
    for (const auto& worker : impl_->workers_) worker->join();
}

std::vector<Consumers::Load> Consumers::load() const {
    std::vector<Load> load;
    for (const auto& worker : impl_->workers_) load.push_back(worker->load());
    return load;
}

}  // namespace svc::events

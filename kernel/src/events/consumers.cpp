#include "events/consumers.hpp"

#include "events/pulse.hpp"
#include "events/stored.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <thread>

namespace svc::events {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Sql open_position{"events.open_consumer", R"(
    INSERT INTO event_consumers (name, position)
    SELECT $1, position FROM event_position
    ON CONFLICT (name) DO NOTHING)"};

constexpr Sql read_position{"events.read_consumer", R"(
    SELECT position FROM event_consumers WHERE name = $1)"};

constexpr Sql keep_position{"events.keep_consumer", R"(
    UPDATE event_consumers SET position = $2, kept_at = now()
    WHERE name = $1 AND position < $2)"};

struct Position {
    std::int64_t position = 0;
};
SVC_RECORD(Position, (position, ""));

/// FNV-1a, in a family of its own beside the sequencer's key.
std::int64_t lock_key(std::string_view name) {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (const unsigned char byte : name) hash = (hash ^ byte) * 0x0000'0100'0000'01b3;
    return static_cast<std::int64_t>(hash | 0x8000'0000'0000'0000);
}

Poco::Logger& log() { return Poco::Logger::get("events"); }

/// One consumer and its thread.
class Worker {
public:
    Worker(db::Database& database, Consumer consumer, const Consumers::Settings& settings)
        : database_(database),
          consumer_(std::move(consumer)),
          settings_(settings),
          pause_(settings.pause),
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
        return {consumer_.name, working_, failing_, position_, handled_};
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
                pulse_.rest(jittered(settings_.lock_retry));
            }
        working_ = false;
    }

    void work(db::Database::Lock& lock) {
        open(lock);
        working_ = true;
        if (std::exchange(away_, false)) log().information(of("goes on"));
        while (!pulse_.ended()) {
            const auto events = keep_and_read(lock);
            const bool went_well = hand_over(lock, events);
            if (went_well && events.empty()) pulse_.wait(settings_.poll);
            if (!went_well) pulse_.rest(std::exchange(pause_, longer_pause()));
        }
        keep(lock);
    }

    void open(db::Database::Lock& lock) {
        const auto tx = lock.begin();
        tx->queue(open_position, consumer_.name);
        position_ = kept_ = tx->one<Position>(read_position, consumer_.name)->position;
        tx->commit();
    }

    /// Each look is a round trip on the connection of the lock: it fails once the lock is lost.
    std::vector<StoredEvent> keep_and_read(db::Database::Lock& lock) {
        const auto tx = lock.begin();
        tx->act_for_all_orgs();
        const std::int64_t position = position_;
        if (position > kept_) tx->queue(keep_position, consumer_.name, position);
        auto events = events_after(*tx, position, settings_.batch);
        tx->commit();
        kept(position);
        auto batch = events.all();
        if (!batch.empty() && batch.front().position != position + 1)
            log().error(
                of("was away too long: ") + std::to_string(batch.front().position - position - 1) +
                " events are no longer kept"
            );
        return batch;
    }

    void keep(db::Database::Lock& lock) {
        if (position_ == kept_) return;
        const auto tx = lock.begin();
        const std::int64_t position = position_;
        tx->queue(keep_position, consumer_.name, position);
        tx->commit();
        kept(position);
    }

    void kept(std::int64_t position) {
        kept_ = position;
        kept_at_ = Clock::now();
    }

    /// False when the handler threw; the event in question is then still to be handled.
    bool hand_over(db::Database::Lock& lock, const std::vector<StoredEvent>& events) {
        for (const StoredEvent& event : events) {
            if (pulse_.ended()) return true;
            if (Clock::now() - kept_at_ > settings_.keep_every) keep(lock);
            try {
                consumer_.handle(event);
            } catch (const std::exception& error) {
                if (!failing_.exchange(true))
                    log().error(
                        of("stands before event ") + event.event_id.str() + " (" + event.kind +
                        "): " + error.what()
                    );
                return false;
            }
            position_ = event.position;
            ++handled_;
            pause_ = settings_.pause;
            if (failing_.exchange(false)) log().information(of("goes on"));
        }
        return true;
    }

    std::chrono::milliseconds longer_pause() const {
        return std::min(pause_ * 2, settings_.longest_pause);
    }

    std::string of(std::string_view what) const {
        return "consumer " + consumer_.name + " " + std::string(what);
    }

    db::Database& database_;
    const Consumer consumer_;
    const Consumers::Settings settings_;
    Pulse pulse_;
    std::chrono::milliseconds pause_;
    bool away_ = false;
    std::int64_t kept_ = 0;
    Clock::time_point kept_at_{};
    std::atomic<bool> working_{false}, failing_{false};
    std::atomic<std::int64_t> position_{0};
    std::atomic<std::uint64_t> handled_{0};
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

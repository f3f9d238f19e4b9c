#include "events/consumers.hpp"

#include "events/deliveries.hpp"
#include "events/feed.hpp"
#include "events/look.hpp"
#include "events/stored.hpp"
#include "events/wake_signal.hpp"

#include <Poco/Logger.h>

#include <atomic>
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

// Nothing when somebody else was here since it was read.
constexpr Sql keep_position{"events.keep_consumer", R"(
    UPDATE event_consumers SET position = $3, kept_at = now()
    WHERE name = $1 AND position = $2
    RETURNING position)"};

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

/// One consumer and its thread.
class Worker {
public:
    Worker(
        db::Database& database, Jobs& jobs, Consumer consumer, const Consumers::Settings& settings
    )
        : database_(database),
          jobs_(jobs),
          consumer_(std::move(consumer)),
          kind_(delivery_kind_of(consumer_)),
          settings_(settings),
          counts_(std::make_shared<DeliveryCounts>()) {
        if (!consumer_.record) jobs_.add(delivery_kind(database_, consumer_, counts_));
    }
    ~Worker() {
        end();
        join();
    }

    void start(const std::optional<std::int64_t>& heard_from) {
        if (heard_from) feed_.hear_from(*heard_from);
        thread_ = std::thread([this] { run(); });
    }
    void hear(std::span<const StoredEvent> batch) {
        const auto wanted = [&](const StoredEvent& event) {
            return !consumer_.subscribers(event).empty();
        };
        if (feed_.hear(batch, wanted)) wake_signal_.wake();
    }
    void end() { wake_signal_.end(); }
    void join() {
        if (thread_.joinable()) thread_.join();
    }
    Consumers::Load load() const {
        return {consumer_.name, working_, position_, counts_->delivered, counts_->given_up};
    }

private:
    void run() {
        while (!wake_signal_.ended()) try {
                if (const auto lock = database_.try_lock(lock_key(consumer_.name))) work(*lock);
                else wake_signal_.rest(jittered(settings_.lock_retry));
            } catch (const std::exception& error) {
                if (!std::exchange(away_, true))
                    log().warning(of("waits for the database: ") + error.what());
                working_ = false;
                feed_.end();
                wake_signal_.rest(jittered(settings_.lock_retry));
            }
        working_ = false;
    }

    void work(db::Database::Lock& lock) {
        open(lock);
        working_ = true;
        if (std::exchange(away_, false)) log().information(of("goes on"));
        while (!wake_signal_.ended() && lock.held()) {
            const bool more = go_on(lock);
            if (std::exchange(gathers_, false)) wake_signal_.rest(consumer_.gather);
            keep_now_and_then(lock);
            if (!more) wake_signal_.wait(settings_.poll);
        }
        working_ = false;
        feed_.end();
        if (lock.held()) keep(lock);
    }

    void open(db::Database::Lock& lock) {
        const auto tx = lock.begin();
        prefer_indexes(*tx);
        tx->queue(open_position, consumer_.name);
        kept_ = tx->one<Position>(read_position, consumer_.name)->position;
        tx->commit();
        position_ = kept_;
        if (consumer_.begin) consumer_.begin();
        feed_.begin();
    }

    /// Hands over what is new; whether there may be more.
    bool go_on(db::Database::Lock& lock) {
        auto heard = feed_.take(position_, settings_.batch);
        if (!heard) return read(lock);
        if (heard->events.empty()) {
            position_ = heard->to;
            return false;
        }
        return advance(*begin(lock), heard->events, heard->to);
    }

    /// The same of what this server did not hear of.
    bool read(db::Database::Lock& lock) {
        const std::int64_t heard_to = feed_.heard_to();
        const auto tx = begin(lock);
        auto events = heads_after(*tx, position_, static_cast<int>(settings_.batch));
        if (events.empty()) {  // then nothing is kept of what was heard either
            position_ = std::max(position_.load(), heard_to);
            return false;
        }
        if (const auto missed = events.front().position - position_ - 1; missed > 0)
            log().error(
                of("was away too long: ") + std::to_string(missed) + " events are no longer kept"
            );
        return advance(*tx, events, events.back().position);
    }

    /// On the connection of the lock, so that what follows fails once the lock is lost.
    static std::unique_ptr<Tx> begin(db::Database::Lock& lock) {
        auto tx = lock.begin();
        tx->set_scope_to_all_orgs();
        return tx;
    }

    /// Hands these over, which are what is known up to `last`; whether there may be more.
    bool advance(Tx& tx, std::vector<StoredEvent>& events, std::int64_t last) {
        const bool may_be_more = events.size() == settings_.batch;
        if (hand_over_all(tx, events)) {
            tx.lock(keep_position, consumer_.name, kept_, last);
            tx.commit();
            kept_ = last;
            gathers_ = !may_be_more && consumer_.gather.count() > 0;
        }
        position_ = last;
        return may_be_more;
    }

    /// Where nothing was handed over the position may be kept later: what is between is looked at
    /// once more when this server crashes, and nothing of it was for anybody.
    void keep_now_and_then(db::Database::Lock& lock) {
        const auto now = Clock::now();
        const bool many = position_ - kept_ >= settings_.keep_events;
        if (position_ == kept_) kept_at_ = now;
        else if (many || now - kept_at_ >= settings_.keep_every) keep(lock);
    }

    void keep(db::Database::Lock& lock) {
        if (position_ == kept_) return;
        const auto tx = lock.begin();
        tx->lock(keep_position, consumer_.name, kept_, position_.load());
        tx->commit();
        kept_ = position_;
        kept_at_ = Clock::now();
    }

    /// Queues what is to be done about those that have subscribers; whether any have.
    bool hand_over_all(Tx& tx, std::vector<StoredEvent>& events) {
        if (!consumer_.record) {
            const auto deliveries = deliveries_of(events);
            if (!deliveries.empty()) hand_over(tx, jobs_, consumer_, kind_, deliveries);
            return !deliveries.empty();
        }
        std::erase_if(events, [&](const auto& each) {
            return consumer_.subscribers(each).empty();
        });
        if (!events.empty()) consumer_.record(tx, events);
        return !events.empty();
    }

    std::vector<Delivery> deliveries_of(const std::vector<StoredEvent>& events) const {
        std::vector<Delivery> out;
        for (const StoredEvent& each : events)
            for (std::string& subscriber : consumer_.subscribers(each))
                out.push_back({each.org_id, each.sequence, each.position, std::move(subscriber)});
        return out;
    }

    std::string of(std::string_view what) const {
        return "consumer " + consumer_.name + " " + std::string(what);
    }

    db::Database& database_;
    Jobs& jobs_;
    const Consumer consumer_;
    const std::string kind_;
    const Consumers::Settings settings_;
    const std::shared_ptr<DeliveryCounts> counts_;
    WakeSignal wake_signal_;
    Feed feed_;
    bool away_ = false, gathers_ = false;  // the thread's, as the next two
    std::int64_t kept_ = 0;                // the position that is written down
    Clock::time_point kept_at_ = Clock::now();
    std::atomic<bool> working_{false};
    std::atomic<std::int64_t> position_{0};
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace

class Consumers::Impl {
public:
    Impl(
        db::Database& database,
        Jobs& jobs,
        std::vector<Consumer> consumers,
        const Settings& settings
    ) {
        for (Consumer& each : consumers)
            workers_.push_back(std::make_unique<Worker>(database, jobs, std::move(each), settings));
    }

    std::vector<std::unique_ptr<Worker>> workers_;
};

Consumers::Consumers(db::Database& database, Jobs& jobs, std::vector<Consumer> consumers)
    : Consumers(database, jobs, std::move(consumers), Settings()) {}
Consumers::Consumers(
    db::Database& database, Jobs& jobs, std::vector<Consumer> consumers, Settings settings
)
    : impl_(std::make_unique<Impl>(database, jobs, std::move(consumers), settings)) {}
Consumers::~Consumers() { stop(); }

void Consumers::start(const std::optional<std::int64_t>& heard_from) {
    for (const auto& worker : impl_->workers_) worker->start(heard_from);
}

void Consumers::wake(std::span<const StoredEvent> batch) {
    if (batch.empty()) return;
    for (const auto& worker : impl_->workers_) worker->hear(batch);
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

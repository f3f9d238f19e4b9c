#include "events/sequencer.hpp"

#include "events/chain.hpp"
#include "events/stored.hpp"
#include "events/wake_signal.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <thread>

namespace svc::events {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t lock_key = 0x776b'6264'0000'0001;  // "wkbd", and a number of this server
constexpr std::chrono::seconds stay_busy{5};  ///< after the last row that nobody announced

// What the servers tell each other.
constexpr std::string_view committed = "events.committed";  ///< by a server that does not lead
constexpr std::string_view sequenced = "events.sequenced";  ///< by the one that does
constexpr std::string_view leader_left = "events.leader_left";

Poco::Logger& log() { return Poco::Logger::get("events"); }

}  // namespace

class Sequencer::Impl {
public:
    Impl(db::Database& database, std::vector<EventListener> listeners, Settings settings, Bus* bus)
        : database_(database),
          listeners_(std::move(listeners)),
          settings_(settings),
          bus_(bus),
          position_(present_position()) {
        if (bus_) subscribe();
        thread_ = std::thread([this] { run(); });
    }
    ~Impl() { stop(); }

    void nudge() {
        if (leading_) wake_signal_.wake();
        else publish(committed);
    }

    void stop() noexcept {
        wake_signal_.end();
        if (thread_.joinable()) thread_.join();
    }

    Load load() const { return {leading_, position_, events_, batches_, failures_, lag_seconds_}; }

private:
    /// Known before the server answers anybody: listeners hear of all that happens from then on. A
    /// database that cannot be reached is found again by the thread.
    std::int64_t present_position() const noexcept {
        try {
            const auto tx = database_.begin(Tx::Mode::read);
            tx->set_scope_to_all_orgs();
            return last_position(*tx);
        } catch (const std::exception& error) {
            log().warning(std::string("the end of the events is not known yet: ") + error.what());
            return Load::unknown;
        }
    }

    void subscribe() {
        bus_->subscribe(committed, [this](std::string_view) {
            if (leading_) wake_signal_.wake();
        });
        bus_->subscribe(sequenced, [this](std::string_view) {
            if (!leading_) wake_signal_.wake();
        });
        bus_->subscribe(leader_left, [this](std::string_view) {
            lock_may_be_free_ = true;
            wake_signal_.wake();
        });
    }
    void publish(std::string_view channel) {
        if (bus_) bus_->publish(channel);
    }

    void run() {
        while (!wake_signal_.ended()) {
            std::optional<std::string> failure;
            try {
                lead_or_follow();
            } catch (const std::exception& error) {
                failure = error.what();
            }
            if (leading_.exchange(false)) publish(leader_left);
            if (failure) fail(*failure);
        }
    }

    void lead_or_follow() {
        lock_may_be_free_ = false;
        if (const auto lock = database_.try_lock(lock_key)) lead(*lock);
        else follow();
    }

    /// Every batch, until the end or until something goes wrong.
    void lead(db::Database::Lock& lock) {
        begin(lock);
        catch_up(*lock.begin());
        Chain chain;
        leading_ = true;
        if (std::exchange(failing_, false)) log().information("the sequencer goes on");
        auto busy_until = Clock::time_point::min();
        for (bool announced = true; !wake_signal_.ended();) {
            const std::size_t rows = sequence(chain, lock);
            tell_if_held_up(chain.gaps());
            const auto now = Clock::now();
            if (rows > 0 && !announced) busy_until = now + stay_busy;
            if (chain.has_more()) {
                announced = true;
                continue;
            }
            if (rows > 0) wake_signal_.rest(gather_after(rows));
            announced =
                wake_signal_.wait(now < busy_until ? settings_.busy_poll : settings_.idle_poll);
        }
    }

    void tell_if_held_up(const Gaps& gaps) {
        if (gaps.full() && !held_up_)
            log().warning(
                "new events wait: a transaction of this PostgreSQL, in whatever database, is open "
                "so long that " +
                std::to_string(gaps.size()) +
                " ids may still be its; see pg_stat_activity and pg_prepared_xacts"
            );
        held_up_ = gaps.full();
    }

    static void begin(db::Database::Lock& lock) {
        const auto tx = lock.begin();
        prefer_indexes(*tx);
        tx->commit();
    }

    std::chrono::microseconds gather_after(std::size_t rows) const {
        const auto for_rows = settings_.gather_per_row * static_cast<std::int64_t>(rows);
        return std::clamp<std::chrono::microseconds>(
            for_rows, settings_.gather, settings_.gather_most
        );
    }

    std::size_t sequence(Chain& chain, db::Database::Lock& lock) {
        const auto tx = lock.begin();
        tx->set_scope_to_all_orgs();
        const auto rows = chain.take(*tx, settings_.batch_rows, settings_.batch_bytes);
        if (rows == 0) return 0;
        const Sequenced batch = chain.write(*tx);
        publish(sequenced);
        events_ += batch.events.size();
        ++batches_;
        lag_seconds_ = batch.oldest_seconds;
        emit(batch.events);
        return rows;
    }

    /// Another server has the lock: look at what it stores, and now and then at the lock.
    void follow() {
        const auto until = Clock::now() + jittered(settings_.lock_retry);
        while (!wake_signal_.ended() && !lock_may_be_free_ && Clock::now() < until) {
            catch_up(*database_.begin(Tx::Mode::read));
            failing_ = false;
            wake_signal_.rest(settings_.gather);
            wake_signal_.wait(settings_.follow_poll);
        }
    }

    void catch_up(Tx& tx) {
        tx.set_scope_to_all_orgs();
        if (position_ == Load::unknown) position_ = last_position(tx);
        for (;;) {
            const auto events = events_after(tx, position_, settings_.batch_rows);
            emit(events);
            if (events.size() < static_cast<std::size_t>(settings_.batch_rows)) return;
        }
    }

    void emit(const std::vector<StoredEvent>& events) {
        if (events.empty()) return;
        for (const EventListener& listener : listeners_) try {
                listener(events);
            } catch (const std::exception& error) {
                log().error(std::string("a listener threw: ") + error.what());
            }
        position_ = events.back().position;  // last: whoever sees it may rely on the listeners
    }

    void fail(const std::string& why) {
        ++failures_;
        if (!failing_) log().warning("the sequencer waits for the database: " + why);
        failing_ = true;
        wake_signal_.rest(jittered(settings_.lock_retry));
    }

    db::Database& database_;
    const std::vector<EventListener> listeners_;
    const Settings settings_;
    Bus* const bus_;  // null: nobody is woken and nobody wakes
    WakeSignal wake_signal_;
    bool failing_ = false, held_up_ = false;  // the thread's own
    std::atomic<bool> leading_{false}, lock_may_be_free_{false};
    std::atomic<std::int64_t> position_;
    std::atomic<std::uint64_t> events_{0}, batches_{0}, failures_{0};
    std::atomic<double> lag_seconds_{0};
    std::thread thread_;  // last: it uses all of the above
};

Sequencer::Sequencer(db::Database& database, std::vector<EventListener> listeners)
    : Sequencer(database, std::move(listeners), Settings()) {}
Sequencer::Sequencer(
    db::Database& database, std::vector<EventListener> listeners, Settings settings, Bus* bus
)
    : impl_(std::make_unique<Impl>(database, std::move(listeners), settings, bus)) {}
Sequencer::~Sequencer() = default;

void Sequencer::nudge() { impl_->nudge(); }
void Sequencer::stop() noexcept { impl_->stop(); }
std::optional<std::int64_t> Sequencer::emits_after() const {
    const std::int64_t position = load().position;
    return position == Load::unknown ? std::nullopt : std::optional(position);
}
Sequencer::Load Sequencer::load() const { return impl_->load(); }

}  // namespace svc::events

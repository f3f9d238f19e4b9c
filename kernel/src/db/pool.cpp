#include "db/pool.hpp"

#include "db/errors.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::db {

namespace {

using Clock = std::chrono::steady_clock;

void move_counts(const Counts& from, Counts& to) {
    to.round_trips += from.round_trips;
    to.statements += from.statements;
    to.prepared += from.prepared;
    to.reconnects += from.reconnects;
}

void add_counts(const Counts& from, Load& to) {
    to.round_trips += from.round_trips;
    to.statements += from.statements;
    to.prepared += from.prepared;
    to.reconnects += from.reconnects;
}

}  // namespace

std::chrono::milliseconds patience_with(const Settings& settings) {
    constexpr auto grace = std::chrono::seconds(5);  // the server's own timeout comes first
    if (settings.statement_timeout.count() == 0) return {};
    return settings.statement_timeout + grace;
}

Pool::Pool(const Settings& settings, Connector& connector, Watchdog& watchdog)
    : settings_(settings), connector_(connector), watchdog_(watchdog) {
    // Nothing that happens while a connection is given back allocates.
    all_.reserve(static_cast<std::size_t>(settings.pool));
    free_.reserve(static_cast<std::size_t>(settings.pool));
}

Connection& Pool::take(Tx::Mode mode) {
    Lock lock(mutex_);
    Connection* connection = free_or_null(lock);
    if (!connection) return open(lock);
    const bool doubtful = connection->lost() || mode == Tx::Mode::write ||
                          std::exchange(connection->seen_losses, losses_) != losses_;
    lock.unlock();
    return doubtful ? check(*connection) : *connection;
}

/// A connection that nobody uses, after waiting if need be; null when a new one may be opened,
/// which is then counted as being opened.
Connection* Pool::free_or_null(Lock& lock) {
    if (closed_) throw unavailable("The server is stopping.");
    if (!free_.empty() && waiters_.empty()) {
        Connection* connection = free_.back();
        free_.pop_back();
        return connection;
    }
    if (static_cast<int>(all_.size()) + opening_ < settings_.pool && waiters_.empty()) {
        ++opening_;
        return nullptr;
    }
    return wait(lock);
}

Connection* Pool::wait(Lock& lock) {
    Waiter self;
    waiters_.push_back(&self);
    const auto since = Clock::now();
    self.called.wait_until(lock, since + settings_.pool_wait, [&] {
        return self.given || self.may_open || closed_;
    });
    waited_ += Clock::now() - since;
    if (self.given || self.may_open) return self.given;
    std::erase(waiters_, &self);
    if (closed_) throw unavailable("The server is stopping.");
    throw unavailable("All database connections are in use; try again in a moment.");
}

Connection& Pool::open(Lock& lock) {
    const auto losses = losses_;
    lock.unlock();
    std::unique_ptr<Connection> made;
    std::string why;
    try {
        made = std::make_unique<Connection>(connector_, &watchdog_, patience_with(settings_));
        made->seen_losses = losses;
        note_connected();
    } catch (const std::exception& problem) {
        why = problem.what();
    }
    lock.lock();
    --opening_;
    if (made) return *all_.emplace_back(std::move(made));
    call_next(lock);
    lock.unlock();
    fail_to_connect(why);
}

void Pool::fail_to_connect(const std::string& why) {
    // Once is enough to say it, however many requests find out.
    auto here = std::chrono::steady_clock::duration::zero();
    if (unreachable_since_.compare_exchange_strong(here, Clock::now().time_since_epoch()))
        Poco::Logger::get("db").error("the database cannot be reached: " + why);
    throw unavailable("The database cannot be reached; try again in a moment.");
}

void Pool::note_connected() {
    const auto since = unreachable_since_.exchange(Clock::duration::zero());
    if (since == Clock::duration::zero()) return;
    const auto away = Clock::now().time_since_epoch() - since;
    Poco::Logger::get("db").notice(
        "the database is there again, after " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(away).count()) + " s"
    );
}

/// Makes sure that the server has not closed it while it lay here.
Connection& Pool::check(Connection& connection) {
    if (!connection.lost() && connection.stands()) return connection;
    connection.lose();
    try {
        connection.renew();
        note_connected();
        return connection;
    } catch (const std::exception& problem) {
        give(connection);
        fail_to_connect(problem.what());
    }
}

void Pool::give(Connection& connection) noexcept {
    Lock lock(mutex_);
    if (closed_) return destroy(connection);
    if (connection.lost()) {
        // Whoever comes next has a better chance with another one, but none is above suspicion.
        ++losses_;
        connection.seen_losses = losses_;
        free_.insert(free_.begin(), &connection);
    } else {
        free_.push_back(&connection);
    }
    call_next(lock);
}

void Pool::call_next(Lock&) noexcept {
    if (waiters_.empty()) return;
    Waiter& next = *waiters_.front();
    if (!free_.empty()) {
        next.given = free_.back();
        free_.pop_back();
    } else if (static_cast<int>(all_.size()) + opening_ < settings_.pool) {
        ++opening_;
        next.may_open = true;
    } else {
        return;
    }
    waiters_.pop_front();
    next.called.notify_one();
}

void Pool::destroy(Connection& connection) noexcept {
    move_counts(connection.counts(), gone_);
    std::erase_if(all_, [&](const auto& each) { return each.get() == &connection; });
}

void Pool::close() noexcept {
    Lock lock(mutex_);
    closed_ = true;
    for (Connection* connection : free_) destroy(*connection);
    free_.clear();
    for (Waiter* waiter : waiters_) waiter->called.notify_one();
}

void Pool::add_to(Load& load) const {
    const std::lock_guard lock(mutex_);
    load.connections += static_cast<int>(all_.size());
    load.busy += static_cast<int>(all_.size() - free_.size());
    load.waiting += static_cast<int>(waiters_.size());
    load.wait_seconds += std::chrono::duration<double>(waited_).count();
    add_counts(gone_, load);
    for (const auto& connection : all_) add_counts(connection->counts(), load);
}

}  // namespace svc::db

#pragma once

#include "db/source.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace svc::db {

/// How long the server may keep silent on a connection with these settings.
std::chrono::milliseconds patience_with(const Settings& settings);

/// At most `Settings::pool` connections, opened as they are needed and kept. The one that was
/// used last is handed out first, so that few stay warm; those who wait are served in the order
/// of their coming. Any thread.
class Pool final : public Source {
public:
    Pool(const Settings& settings, Connector& connector, Watchdog& watchdog);

    Connection& take(Tx::Mode mode) override;
    void give(Connection& connection) noexcept override;
    const Settings& settings() const override { return settings_; }
    Growth* growth() override { return &growth_; }

    /// Refuses whoever wants one from now on and closes those that are free; the others are
    /// closed when they come back.
    void close() noexcept;
    void add_to(Load& load) const;

private:
    struct Waiter {
        std::condition_variable called;
        Connection* given = nullptr;
        bool may_open = false;
    };
    using Lock = std::unique_lock<std::mutex>;

    Connection* free_or_null(Lock& lock);
    Connection* wait(Lock& lock);
    Connection& open(Lock& lock);
    Connection& check(Connection& connection);
    [[noreturn]] void fail_to_connect(const std::string& why);
    void note_connected();
    void destroy(Connection& connection) noexcept;
    void call_next(Lock& lock) noexcept;

    const Settings& settings_;
    Connector& connector_;
    Watchdog& watchdog_;
    Growth growth_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> all_;
    std::vector<Connection*> free_;  // the warmest at the back
    std::deque<Waiter*> waiters_;
    int opening_ = 0;
    bool closed_ = false;
    std::uint64_t losses_ = 0;
    std::chrono::nanoseconds waited_{};
    // Since when nobody could connect; zero while the database is there.
    std::atomic<std::chrono::steady_clock::duration> unreachable_since_{};
    Counts gone_;  // of connections that are no more
};

}  // namespace svc::db

#pragma once

#include "db/database.hpp"
#include "svc/events.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace svc::events {

/// Runs the durable consumers, each on a thread of its own. Each keeps its position in the
/// database and holds an advisory lock while it works, so that of all the servers one hands
/// events to it. A workspace's events come in their order; workspaces take turns.
class Consumers {
public:
    struct Settings {
        std::chrono::milliseconds poll{250};          ///< for events, when nobody wakes us
        std::chrono::milliseconds lock_retry{1'000};  ///< while another server is at it
        std::chrono::milliseconds pause{500}, longest_pause{30'000};  ///< after a throw, doubling
        std::int64_t tries = 12;              ///< and then the event is given up: after 4 minutes
        int batch = 1'000;                    ///< new events looked at at once
        int events = 20;                      ///< read for a workspace's turn
        std::chrono::milliseconds turn{100};  ///< after which it is another's, between two events
        std::chrono::milliseconds keep_every{250};  ///< the position, and whenever it catches up
    };

    /// Starts at once. A consumer that has no position yet begins with what happens from now on.
    Consumers(db::Database& database, std::vector<Consumer> consumers);
    Consumers(db::Database& database, std::vector<Consumer> consumers, Settings settings);
    ~Consumers();

    /// Gives the sequencer's listener its work: new events are looked at without waiting for
    /// the poll. Any thread; never blocks.
    void wake(std::span<const StoredEvent> batch);
    /// Lets each finish the event in hand and ends the threads.
    void stop() noexcept;

    struct Load {
        std::string name;
        bool working = false;       ///< this server has its lock
        bool failing = false;       ///< its handler threw the last time
        std::int64_t position = 0;  ///< handled up to here, as this server knows
        std::uint64_t handled = 0;  ///< by this server
        std::uint64_t given_up = 0;
    };
    std::vector<Load> load() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc::events

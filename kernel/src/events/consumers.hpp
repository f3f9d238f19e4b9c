#pragma once

#include "db/database.hpp"
#include "svc/events.hpp"
#include "svc/jobs.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace svc::events {

/// Sees for the durable consumers which subscribers an event is for, on a thread for each consumer.
/// A consumer's position and the deliveries of what is before it are written in one transaction, so
/// that each event is handed over once. An advisory lock keeps the servers from doing it twice
/// over; the deliveries themselves are jobs, on every server.
class Consumers {
public:
    struct Settings {
        std::chrono::milliseconds poll{250};          ///< for events, when nobody wakes us
        std::chrono::milliseconds lock_retry{1'000};  ///< while another server is at it
        int batch = 500;                              ///< events looked at at once
    };

    /// Adds the kinds of jobs that deliver. Begins with start(); a consumer that has no position
    /// yet begins with what happens from then on.
    Consumers(db::Database& database, Jobs& jobs, std::vector<Consumer> consumers);
    Consumers(
        db::Database& database, Jobs& jobs, std::vector<Consumer> consumers, Settings settings
    );
    ~Consumers();
    void start();

    /// Gives the sequencer's listener its work: new events are looked at without waiting for
    /// the poll. Any thread; never blocks.
    void wake(std::span<const StoredEvent> batch);
    /// Ends the threads.
    void stop() noexcept;

    struct Load {
        std::string name;
        bool working = false;         ///< this server has its lock
        std::int64_t position = 0;    ///< handed over up to here, as this server knows
        std::uint64_t delivered = 0;  ///< by this server
        std::uint64_t given_up = 0;
    };
    std::vector<Load> load() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc::events

#pragma once

#include "db/database.hpp"
#include "svc/events.hpp"
#include "svc/jobs.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace svc::events {

/// Sees for the durable consumers which subscribers an event is for, on a thread for each consumer.
/// A consumer's position and the deliveries of what is before it are written in one transaction, so
/// that each event is handed over once. Where nothing is to be handed over, nothing is written but
/// the position every so often; and where nothing that happened has subscribers, nothing is read.
/// An advisory lock keeps the servers from doing it twice over; the deliveries themselves are jobs,
/// on every server.
class Consumers {
public:
    struct Settings {
        /// For events, as long as it is not known from where on the sequencer emits them.
        std::chrono::milliseconds poll{250};
        std::chrono::milliseconds lock_retry{1'000};  ///< while another server is at it
        std::size_t batch = 500;                      ///< events looked at at once
        /// How often a position is written down that moved past events that are for nobody.
        std::chrono::milliseconds keep_every{5'000};
        std::int64_t keep_events = 1'000;
    };

    /// Adds the kinds of jobs that deliver. Begins with start(); a consumer that has no position
    /// yet begins with what happens from then on.
    Consumers(db::Database& database, Jobs& jobs, std::vector<Consumer> consumers);
    Consumers(
        db::Database& database, Jobs& jobs, std::vector<Consumer> consumers, Settings settings
    );
    ~Consumers();
    /// The sequencer emits all events after `heard_from`, as far as that is known: where nothing
    /// is left to be done of those before it, nothing is read until it emits some.
    void start(const std::optional<std::int64_t>& heard_from = std::nullopt);

    /// The sequencer's listener: tells of every batch in its order, whichever server sequenced it.
    /// What has no subscribers is passed by without a look. Any thread; never blocks.
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

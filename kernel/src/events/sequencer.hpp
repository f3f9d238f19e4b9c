#pragma once

#include "db/database.hpp"
#include "svc/bus.hpp"
#include "svc/events.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace svc::events {

/// Gives what transactions left in the log its numbers, in the order it was written, and links the
/// audit entries (docs/events.md). Of all the servers on one database one does it, the one that
/// holds an advisory lock; the others follow and take over when the lock is free. A thread of its
/// own, which outlives restarts of the database.
///
/// The servers wake each other by the bus: one that does not lead says when it has committed
/// something, the one that leads when it has stored a batch, or leads no more. Where the bus brings
/// nothing, polling finds it a little later.
class Sequencer {
public:
    struct Settings {
        /// Between looks at the log while other servers write into it, and while nobody does.
        std::chrono::milliseconds busy_poll{20}, idle_poll{200};
        /// Between looks at what was sequenced, and at the lock, while another server holds it.
        std::chrono::milliseconds follow_poll{250}, lock_retry{1'000};
        /// After a batch that was not full, so that the next is worth its commit; and between looks
        /// at what was sequenced.
        std::chrono::milliseconds gather{3};
        /// For each row of the batch before, up to `gather_most`: where much happens a batch's own
        /// cost, and that of all who read it, is shared by more.
        std::chrono::microseconds gather_per_row{300};
        std::chrono::milliseconds gather_most{12};
        int batch_rows = 500;
        std::int64_t batch_bytes = 4 << 20;
    };

    /// `listeners` are called, on the sequencer's thread, of every batch that was stored since
    /// the start, whichever server stored it. Starts at once, after a look at where the log ends.
    Sequencer(db::Database& database, std::vector<EventListener> listeners);
    Sequencer(
        db::Database& database,
        std::vector<EventListener> listeners,
        Settings settings,
        Bus* bus = nullptr  ///< not started yet, and stopped before this is gone
    );
    ~Sequencer();

    /// Something was committed here: whoever leads is to look now. Any thread; costs an atomic when
    /// it is awake anyway.
    void nudge();
    /// Finishes the batch in hand and ends the thread.
    void stop() noexcept;

    /// The position after which its listeners get every event; nothing while the database could
    /// not be reached.
    std::optional<std::int64_t> emits_after() const;

    struct Load {
        static constexpr std::int64_t unknown = -1;

        bool leading = false;  ///< this server holds the lock
        /// Of the last event its listeners got; unknown as long as the database could
        /// not be reached. From the first look at the log on they miss nothing.
        std::int64_t position = unknown;
        std::uint64_t events = 0;    ///< sequenced by this server
        std::uint64_t batches = 0;   ///< in which it did so
        std::uint64_t failures = 0;  ///< of the database, met on the way
        double lag_seconds = 0;      ///< how long the oldest row of the last batch had waited
    };
    Load load() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc::events

#pragma once

#include "modules/boards/api/kinds.hpp"
#include "svc/types.hpp"

#include <chrono>
#include <mutex>
#include <unordered_map>

namespace svc::boards {
struct Card;
}

namespace svc::queue {

/// Where a card stands in its queue; lower goes first.
struct QueueKey {
    std::int64_t urgency = 0;
    std::string place;
    Uuid card;

    static QueueKey head() { return {}; }
    auto operator<=>(const QueueKey&) const = default;
};

/// By its column's rule: the most urgent and then the topmost, the one longest here, or the one
/// due first.
QueueKey key_of(boards::QueueOrder order, const boards::Card& card, const Timestamp& entered);

/// The place under fifo of a card that entered at that time, as key_of() writes it.
#define SVC_PLACE_AT(time) \
    "to_char(" time " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"

/// Where this server last found a card in each column. A claim that begins there skips what
/// earlier claims have left in front: index entries that are dead, but that an old snapshot still
/// keeps PostgreSQL from removing. Only ever a hint: a column is looked at from its head
/// whenever a card became ready on this server, and every quarter of a second for what other
/// servers do. Any thread.
class Hints {
public:
    static constexpr std::string_view name = "queue.Hints";  ///< offered to the handlers
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds trusted_for{250};

    QueueKey from(const Uuid& column, Clock::time_point now = Clock::now());
    /// A claim that began at `from` found the card at `at`.
    void found(const Uuid& column, const QueueKey& at);
    /// Look from the head again.
    void reset(const Uuid& column);

private:
    struct Hint {
        QueueKey key;
        Clock::time_point head_seen;
    };
    struct Hash {
        std::size_t operator()(const Uuid& id) const;
    };
    static constexpr std::size_t most = 4096;  ///< columns; beyond it everything is forgotten

    std::mutex mutex_;
    std::unordered_map<Uuid, Hint, Hash> hints_;
};

}  // namespace svc::queue

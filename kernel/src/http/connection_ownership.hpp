#pragma once

#include <atomic>
#include <cstdint>

namespace svc::http {

/// Whose turn it is on a connection. Events of the epoll set are edges and only hints: whoever
/// hears of one enters; when another holds the turn, the event is noted and the holder goes
/// round again before it leaves. So no event is lost, nobody waits, and everything else in the
/// connection belongs to the holder alone. A generation makes events of a connection that is
/// gone harmless to the next one in its slot.
class ConnectionOwnership {
public:
    std::uint32_t generation() const {
        return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) >> 32);
    }

    /// True when the turn is now the caller's. `hung_up` is remembered either way.
    bool enter(std::uint32_t generation, bool hung_up) {
        auto word = word_.load(std::memory_order_relaxed);
        for (;;) {
            if (static_cast<std::uint32_t>(word >> 32) != generation) return false;
            const bool mine = !(word & held);
            const auto next = word | (mine ? held : again) | (hung_up ? gone : 0);
            if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel)) return mine;
        }
    }

    /// False when something happened meanwhile: the caller keeps the turn and looks again.
    bool leave() {
        auto word = word_.load(std::memory_order_relaxed);
        for (;;) {
            const bool done = !(word & again);
            const auto next = done ? word & ~held : word & ~again;
            if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel)) return done;
        }
    }

    /// The peer has ended its side, or the connection broke. Any thread.
    bool hung_up() const { return word_.load(std::memory_order_relaxed) & gone; }

    /// By the holder, when the connection is gone: a new generation, and nobody can enter until
    /// its holder leaves.
    void retire() {
        const auto next = std::uint64_t{generation() + 1} << 32;
        word_.store(next | held, std::memory_order_release);
    }

private:
    static constexpr std::uint64_t held = 1, again = 2, gone = 4;
    std::atomic<std::uint64_t> word_{held};
};

}  // namespace svc::http

#pragma once

#include "http/connection.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace svc::http {

/// All connections, and when each is due. Deadlines stand side by side, so that looking
/// through ten thousand of them takes a few microseconds.
class ConnectionTable {
public:
    explicit ConnectionTable(std::size_t most);
    ~ConnectionTable();

    /// A free connection, whose turn is the caller's; null when there are as many as may be.
    Connection* take();
    /// By the holder of the turn, which ends with it.
    void give_back(Connection& connection);

    /// The slot of a key from Connection::key(). Whether it is still that connection, its turn
    /// says.
    Connection& at(std::uint32_t slot) const;

    static constexpr std::int64_t never = 0;
    void set_due(const Connection& connection, std::int64_t when) {
        due_[connection.slot].store(when, std::memory_order_relaxed);
    }
    std::int64_t due(const Connection& connection) const {
        return due_[connection.slot].load(std::memory_order_relaxed);
    }
    /// Calls `each` with every connection whose time has come by `now`; the turn is not taken.
    template <class Each>
    void for_each_due(std::int64_t now, Each each) const {
        const auto used = used_.load(std::memory_order_acquire);
        for (std::uint32_t slot = 0; slot < used; ++slot) {
            const auto when = due_[slot].load(std::memory_order_relaxed);
            if (when != never && when <= now) each(at(slot));
        }
    }
    template <class Each>
    void for_each_slot(Each each) const {
        const auto used = used_.load(std::memory_order_acquire);
        for (std::uint32_t slot = 0; slot < used; ++slot) each(at(slot));
    }

    std::size_t live() const { return live_.load(std::memory_order_relaxed); }

private:
    static constexpr std::size_t chunk_size = 256;
    using Chunk = std::array<Connection, chunk_size>;

    const std::size_t most_;
    std::unique_ptr<std::atomic<std::int64_t>[]> due_;
    std::vector<std::atomic<Chunk*>> chunks_;
    std::atomic<std::uint32_t> used_{0};
    std::atomic<std::size_t> live_{0};
    std::mutex mutex_;
    std::vector<std::uint32_t> free_;  // under mutex_
};

}  // namespace svc::http

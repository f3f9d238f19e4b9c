#include "http/connection_table.hpp"

namespace svc::http {

ConnectionTable::ConnectionTable(std::size_t most)
    : most_(most),
      due_(std::make_unique<std::atomic<std::int64_t>[]>(most)),
      chunks_((most + chunk_size - 1) / chunk_size) {}

ConnectionTable::~ConnectionTable() {
    for (auto& each : chunks_) delete each.load();
}

Connection& ConnectionTable::at(std::uint32_t slot) const {
    return (*chunks_[slot / chunk_size].load(std::memory_order_acquire))[slot % chunk_size];
}

Connection* ConnectionTable::take() {
    std::lock_guard lock(mutex_);
    std::uint32_t slot = 0;
    if (!free_.empty()) {
        slot = free_.back();
        free_.pop_back();
    } else {
        slot = used_.load(std::memory_order_relaxed);
        if (slot == most_) return nullptr;
        auto& chunk = chunks_[slot / chunk_size];
        if (!chunk.load()) chunk.store(new Chunk, std::memory_order_release);
        at(slot).slot = slot;
        used_.store(slot + 1, std::memory_order_release);
    }
    live_.fetch_add(1, std::memory_order_relaxed);
    return &at(slot);  // the turn of a free one is nobody's to enter
}

void ConnectionTable::give_back(Connection& connection) {
    set_due(connection, never);
    connection.ownership.retire();
    std::lock_guard lock(mutex_);
    free_.push_back(connection.slot);
    live_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace svc::http

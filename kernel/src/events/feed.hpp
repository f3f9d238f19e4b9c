#pragma once

#include "svc/events.hpp"

#include <algorithm>
#include <mutex>
#include <span>

namespace svc::events {

/// What a consumer learns from the batches that its server's sequencer hands on: whether there is
/// anything to look for, and how far there is nothing. Any thread.
class Feed {
public:
    /// A batch was sequenced, by whichever server; whether the consumer has to look.
    template <class Wanted>
    bool hear(std::span<const StoredEvent> batch, const Wanted& wanted) {
        const std::lock_guard lock(mutex_);
        heard_to_ = std::max(heard_to_, batch.back().position);
        heard_ = true;
        // What follows something unknown is found by looking.
        if (batch.front().position > clear_to_ + 1) look_ = true;
        if (look_) return true;
        for (const StoredEvent& event : batch) {
            if (event.position <= clear_to_) continue;
            if (wanted(event)) return look_ = true;
            clear_to_ = event.position;
        }
        return false;
    }

    /// The last position up to which nothing after `position` is wanted.
    std::int64_t clear_from(std::int64_t position) const {
        const std::lock_guard lock(mutex_);
        return position >= clear_from_ ? std::max(position, clear_to_) : position;
    }

    /// Whether there may be something that is wanted. Always, until a batch was heard of: then
    /// whatever comes next will be.
    bool has_to_look() const {
        const std::lock_guard lock(mutex_);
        return look_ || !heard_;
    }

    /// The consumer begins, wherever it stopped before.
    void begin() {
        const std::lock_guard lock(mutex_);
        look_ = true;
    }

    /// A look found nothing after `position`; whether something was heard of since.
    bool caught_up(std::int64_t position) {
        const std::lock_guard lock(mutex_);
        clear_from_ = clear_to_ = position;
        return look_ = heard_to_ > position;
    }

private:
    mutable std::mutex mutex_;
    std::int64_t clear_from_ = 0, clear_to_ = 0;  // nothing between them is wanted
    std::int64_t heard_to_ = 0;
    bool heard_ = false, look_ = true;
};

}  // namespace svc::events

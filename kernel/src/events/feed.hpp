#pragma once

#include "svc/events.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace svc::events {

/// What a consumer learns from the batches that its server's sequencer hands on: the events that
/// are for somebody, kept until the consumer takes them, so that it need not read them. Any thread.
class Feed {
public:
    /// Events; of more than that the oldest are forgotten, and have to be read.
    static constexpr std::size_t most_kept = 2'000;

    /// What is wanted after a position, and the position up to which that is all.
    struct Heard {
        std::vector<StoredEvent> events;  ///< without envelopes and subjects
        std::int64_t to = 0;
    };

    /// From `position` on it hears of everything. Without this it knows nothing until it hears of a
    /// batch.
    void hear_from(std::int64_t position) {
        const std::lock_guard lock(mutex_);
        if (!to_) to_ = from_ = position;
    }

    /// The consumer begins on this server, wherever it was before; or ends.
    void begin() { open(true); }
    void end() { open(false); }

    /// A batch was sequenced, by whichever server; whether the consumer has something to do.
    template <class Wanted>
    bool hear(std::span<const StoredEvent> batch, const Wanted& wanted) {
        const std::lock_guard lock(mutex_);
        if (batch.empty()) return false;
        const auto last = std::max(to_.value_or(0), batch.back().position);
        if (!open_) {
            to_ = from_ = last;
            return false;
        }
        if (!to_ || batch.front().position > *to_ + 1) restart(batch.front().position - 1);
        for (const StoredEvent& event : batch)
            if (event.position > *to_ && wanted(event)) keep(event);
        to_ = last;
        return behind_ || !kept_.empty();
    }

    /// The position of the last event that was heard of; 0 when none is known.
    std::int64_t heard_to() const {
        const std::lock_guard lock(mutex_);
        return to_.value_or(0);
    }

    /// At most so many of what is wanted after `position`, which are forgotten with that; nothing
    /// when that is not known here and has to be read.
    std::optional<Heard> take(std::int64_t position, std::size_t most) {
        const std::lock_guard lock(mutex_);
        behind_ = !to_ || position < from_;
        if (behind_) return std::nullopt;
        while (!kept_.empty() && kept_.front().position <= position) kept_.pop_front();
        Heard heard;
        while (!kept_.empty() && heard.events.size() < most) {
            heard.events.push_back(std::move(kept_.front()));
            kept_.pop_front();
        }
        heard.to = kept_.empty() ? std::max(position, *to_) : heard.events.back().position;
        from_ = heard.to;
        return heard;
    }

private:
    void open(bool open) {
        const std::lock_guard lock(mutex_);
        open_ = open;
        if (to_) from_ = *to_;
        kept_ = {};
    }
    /// What lies before it is unknown.
    void restart(std::int64_t position) {
        behind_ = true;
        to_ = from_ = position;
        kept_.clear();
    }
    void keep(const StoredEvent& event) {
        StoredEvent& head = kept_.emplace_back(event);
        head.subject.reset();
        head.envelope.clear();
        head.envelope.shrink_to_fit();
        if (kept_.size() <= most_kept) return;
        from_ = kept_.front().position;
        kept_.pop_front();
    }

    mutable std::mutex mutex_;
    bool open_ = false;
    bool behind_ = true;              // the consumer has to read, as far as is known
    std::int64_t from_ = 0;           // what is wanted after it, up to to_, is in kept_
    std::optional<std::int64_t> to_;  // none: nothing is known yet
    std::deque<StoredEvent> kept_;    // in the order of their positions
};

}  // namespace svc::events

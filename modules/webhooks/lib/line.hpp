#pragma once

#include "modules/lib/http_client/http_loop.hpp"
#include "modules/webhooks/lib/schedule.hpp"
#include "modules/webhooks/shapes.hpp"

#include <deque>
#include <set>

namespace svc::webhooks {

/// A delivery that is to be made.
struct Pending {
    Uuid id, event_id;
    std::int64_t position = 0;
    std::int64_t attempt_count = 0, retries = 0;
    std::int64_t redeliveries = 0;  ///< how often it was asked for once more
    std::vector<DeliveryAttempt> attempts;
};

/// What is to be written down of an attempt.
struct Attempted {
    Uuid id;
    DeliveryStatus status = DeliveryStatus::pending;
    std::int64_t attempt_count = 0, retries = 0;
    std::int64_t redeliveries = 0;  ///< of the delivery as it was attempted
    std::optional<std::chrono::milliseconds> next_after;
    std::vector<DeliveryAttempt> attempts;
    std::optional<std::string> response_excerpt;
};

/// It was taken.
bool is_success(const HttpLoop::Outcome& outcome);

/// One webhook's endpoint while this server sends to it. One thread's.
struct Line {
    using Clock = std::chrono::steady_clock;

    Uuid org_id, webhook_id;
    bool open = false;         ///< it is active
    std::int64_t version = 0;  ///< of the webhook, as it was read
    /// Rises when it starts afresh: with another URL, or made active. What an attempt of before
    /// comes to says nothing of it.
    std::int64_t epoch = 0;
    std::string fault;  ///< why nothing can be sent; then every attempt fails
    WebAddress to;
    std::vector<std::string> secrets;

    std::deque<Pending> waiting;  ///< read, and not yet sent
    std::set<Uuid> busy;          ///< sent, and what came of it not yet written down
    int in_flight = 0;
    bool look = true;  ///< there may be more to read
    Clock::time_point looked_at{}, active_at = Clock::now();
    std::uint64_t read_in = 0;  ///< the sender's round in which it was read

    std::int64_t consecutive_failures = 0;
    bool proven = false;                            ///< it has taken something in this epoch
    std::optional<std::chrono::milliseconds> rest;  ///< it is left alone for so long

    /// How many it may have in flight: one, while nobody knows whether it answers.
    int limit() const {
        if (!open || rest) return 0;
        return proven && consecutive_failures == 0 ? 4 : 1;
    }
    /// Takes note of how an attempt ended, and says what it means for the delivery.
    Attempted settle(const Pending& delivery, const HttpLoop::Outcome& outcome, Chance chance);
    /// The same of an attempt that was made in another epoch: a failure is listed, and that is all.
    static Attempted settle_stale(const Pending& delivery, const HttpLoop::Outcome& outcome);
    /// The delivery can never be made.
    static Attempted give_up(const Pending& delivery, const std::string& why);
};

/// Text of somebody else's that is kept and shown: its beginning, as UTF-8 without control
/// characters.
std::string excerpt_of(std::string_view text, std::size_t most_characters);

}  // namespace svc::webhooks

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
    std::vector<DeliveryAttempt> attempts;
};

/// What is to be written down of an attempt.
struct Attempted {
    Uuid id;
    DeliveryStatus status = DeliveryStatus::pending;
    std::int64_t attempt_count = 0, retries = 0;
    std::optional<std::chrono::milliseconds> next_after;
    std::vector<DeliveryAttempt> attempts;
    std::optional<std::string> response_excerpt;
};

/// One webhook's endpoint while this server sends to it. One thread's.
struct Line {
    using Clock = std::chrono::steady_clock;

    Uuid org_id, webhook_id;
    bool open = false;  ///< it is active
    std::string fault;  ///< why nothing can be sent; then every attempt fails
    WebAddress to;
    std::vector<std::string> secrets;

    std::deque<Pending> waiting;  ///< read, and not yet sent
    std::set<Uuid> busy;          ///< sent, and what came of it not yet written down
    int in_flight = 0;
    bool look = true;  ///< there may be more to read
    Clock::time_point looked_at{}, active_at = Clock::now();

    std::int64_t consecutive_failures = 0;
    bool proven = false;                            ///< it has taken something before
    std::optional<std::chrono::milliseconds> rest;  ///< it is left alone for so long

    /// How many it may have in flight: one, while nobody knows whether it answers.
    int limit() const {
        if (!open || rest) return 0;
        return proven && consecutive_failures == 0 ? 4 : 1;
    }
    /// Takes note of how an attempt ended, and says what it means for the delivery.
    Attempted settle(const Pending& delivery, const HttpLoop::Outcome& outcome, Chance chance);
    /// The delivery can never be made.
    static Attempted give_up(const Pending& delivery, const std::string& why);
};

/// Text of somebody else's that is kept and shown: its beginning, as UTF-8 without control
/// characters.
std::string excerpt_of(std::string_view text, std::size_t most_characters);

}  // namespace svc::webhooks

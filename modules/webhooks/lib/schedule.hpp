#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

/// When something is sent again, and when nothing is sent any more (contract section 6.27).
namespace svc::webhooks {

/// A number of [0, 1), by which pauses differ.
using Chance = double;

/// The pause after `retries` + 1 failed attempts: 5 s, 30 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h,
/// 20 h, 24 h, each a fifth more or less; nothing when that was the last. An endpoint that says
/// when to come again (`asked`, an hour at most) is not asked before.
std::optional<std::chrono::milliseconds> pause_after(
    std::int64_t retries, std::optional<std::chrono::seconds> asked, Chance chance
);

/// How long an endpoint that failed so many times in a row is left alone, whatever is due: not at
/// all up to the fourth, then 30 s, twice as long each time, up to 5 min.
std::chrono::milliseconds breaker_pause(std::int64_t consecutive_failures, Chance chance);

/// How many mails admins are to have been sent about an endpoint that has been failing for so long:
/// one after a day, two after three.
int alerts_due(std::chrono::seconds failing);

/// Whether an endpoint counts as gone.
bool is_gone(
    std::int64_t consecutive_failures, std::chrono::seconds failing, std::chrono::seconds most
);

}  // namespace svc::webhooks

#include "modules/webhooks/lib/line.hpp"

#include <algorithm>

namespace svc::webhooks {

namespace {

constexpr std::size_t longest_excerpt = 1024, longest_error = 300;  // characters

std::string error_of(const HttpLoop::Outcome& outcome) {
    if (!outcome.error.empty()) return excerpt_of(outcome.error, longest_error);
    if (outcome.status >= 300 && outcome.status < 400)
        return "answered " + std::to_string(outcome.status) + "; redirects are not followed";
    return "answered " + std::to_string(outcome.status);
}

/// How many bytes of valid UTF-8 a character has that begins here; 0 when it is none.
std::size_t character_at(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
    if (size == 0 || text.size() < size) return 0;
    for (std::size_t at = 1; at < size; ++at)
        if ((byte(at) & 0xC0) != 0x80) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;   // longer than need be
    if (first == 0xED && byte(1) >= 0xA0) return 0;  // a surrogate
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) >= 0x90) return 0;  // beyond Unicode
    return size;
}

void add_attempt(std::vector<DeliveryAttempt>& attempts, DeliveryAttempt attempt) {
    attempts.push_back(std::move(attempt));
    if (attempts.size() > most_attempts_kept) attempts.erase(attempts.begin());
}

}  // namespace

bool is_success(const HttpLoop::Outcome& outcome) {
    return outcome.status >= 200 && outcome.status < 300;
}

std::string excerpt_of(std::string_view text, std::size_t most_characters) {
    std::string out;
    for (std::size_t i = 0; i < most_characters && !text.empty(); ++i) {
        const std::size_t size = character_at(text);
        const unsigned char first = static_cast<unsigned char>(text.front());
        const bool shown = size > 1 || (first >= 0x20 && first < 0x7F) || first == '\n';
        if (size > 0 && shown) out += text.substr(0, size);
        else out += first < 0x80 ? ' ' : '?';
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

Attempted Line::settle_stale(const Pending& delivery, const HttpLoop::Outcome& outcome) {
    const bool success = is_success(outcome);
    Attempted out{
        .id = delivery.id,
        .status = success ? DeliveryStatus::succeeded : DeliveryStatus::failed,
        .attempt_count = delivery.attempt_count + 1,
        .retries = delivery.retries,
        .redeliveries = delivery.redeliveries,
        .attempts = delivery.attempts,
    };
    add_attempt(
        out.attempts,
        {.number = out.attempt_count,
         .at = Timestamp::now(),
         .status_code = outcome.status ? std::optional<std::int64_t>(outcome.status) : std::nullopt,
         .error = success ? std::nullopt : std::optional(error_of(outcome)),
         .duration_ms = outcome.took.count()}
    );
    if (outcome.status) out.response_excerpt = excerpt_of(outcome.body, longest_excerpt);
    if (!success) out.next_after = std::chrono::milliseconds(0);
    return out;
}

Attempted Line::settle(const Pending& delivery, const HttpLoop::Outcome& outcome, Chance chance) {
    Attempted out = settle_stale(delivery, outcome);
    if (out.status == DeliveryStatus::succeeded) {
        consecutive_failures = 0;
        proven = true;
        rest.reset();
        return out;
    }
    ++consecutive_failures;
    if (const auto pause = breaker_pause(consecutive_failures, chance); pause.count() > 0)
        rest = pause;
    const bool is_told = outcome.status == 429 || outcome.status == 503;
    out.next_after =
        pause_after(delivery.retries, is_told ? outcome.retry_after : std::nullopt, chance);
    out.status = out.next_after ? DeliveryStatus::failed : DeliveryStatus::abandoned;
    ++out.retries;
    return out;
}

Attempted Line::give_up(const Pending& delivery, const std::string& why) {
    Attempted out{
        .id = delivery.id,
        .status = DeliveryStatus::abandoned,
        .attempt_count = delivery.attempt_count + 1,
        .retries = delivery.retries,
        .redeliveries = delivery.redeliveries,
        .attempts = delivery.attempts,
    };
    add_attempt(out.attempts, {.number = out.attempt_count, .at = Timestamp::now(), .error = why});
    return out;
}

}  // namespace svc::webhooks

#include "svc/rate_limit.hpp"

#include "core/rate_windows.hpp"
#include "db/database.hpp"
#include "svc/kernel.hpp"
#include "svc/secrets.hpp"

namespace svc {

namespace {

constexpr std::string_view by_digest = R"(
    INSERT INTO rate_windows AS w (reason, key, opened_at, ends_at)
    SELECT $1, $2::bytea, now(), now() + $3::interval)";

// Digested here as digest_of() does it, for what the transaction presents may be known to the
// database alone.
constexpr std::string_view by_credential = R"(
    INSERT INTO rate_windows AS w (reason, key, opened_at, ends_at)
    SELECT $1, sha256($2::bytea || convert_to(svc_credential(), 'UTF8')), now(),
        now() + $3::interval
    WHERE svc_credential() IS NOT NULL)";

// The length of a window is what the limit says now, whatever it was when the window opened. A
// transaction that waited for another's may have begun before the window did.
constexpr std::string_view one_more = R"(
    ON CONFLICT (reason, key) DO UPDATE
    SET count = CASE WHEN w.opened_at + $3 <= now() THEN 1 ELSE w.count + 1 END,
        opened_at = CASE WHEN w.opened_at + $3 <= now() THEN now() ELSE w.opened_at END,
        ends_at = CASE WHEN w.opened_at + $3 <= now() THEN now() ELSE w.opened_at END + $3
    RETURNING w.count,
        greatest(1, ceil(extract(epoch FROM least($3, w.ends_at - now()))))::bigint AS retry_after)";

constexpr Sql count_key{"kernel.count_rate", SqlText<by_digest, one_more>::view};
constexpr Sql count_credential{
    "kernel.count_rate_of_credential", SqlText<by_credential, one_more>::view};

constexpr Sql refund_one{"kernel.refund_rate", R"(
    UPDATE rate_windows SET count = greatest(count - 1, 0) WHERE reason = $1 AND key = $2)"};

// Waits for nobody, so that whoever counts by several keys never waits in a circle with this.
constexpr Sql delete_ended{"kernel.sweep_rate_windows", R"(
    DELETE FROM rate_windows
    WHERE (reason, key) IN (
        SELECT reason, key FROM rate_windows
        WHERE ends_at <= now()
        LIMIT 10000
        FOR UPDATE SKIP LOCKED))"};

Sha256 digest_of(const std::string& secret, std::string_view key) {
    return sha256(secret + std::string(key));
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

void RateLimit::require(const RateWindow& counted, std::string_view message) const {
    if (allows(counted)) return;
    const auto minutes = std::to_string((counted.retry_after + 59) / 60);
    throw Failure(
        Fault::rate_limited,
        message.empty() ? "Too many attempts; try again in " + minutes + " minutes."
                        : std::string(message)
    )
        .with("rate_limit_reason", std::string(reason))
        .with_header("Retry-After", std::to_string(counted.retry_after));
}

// ---------------------------------------------------------------------------------- in memory

RateWindow MemoryRateLimit::count(
    std::string_view key, std::string_view request, Clock::time_point now
) {
    const std::scoped_lock lock(mutex_);
    // Threads come here in another order than they looked at the clock; windows open in one.
    if (!by_age_.empty()) now = std::max(now, by_age_.back().opened);
    while (!by_age_.empty() && now - by_age_.front().opened >= window) drop_oldest();
    Window& counted = window_of(key, now);
    if (counted.count == 0 || counted.last_request != request) ++counted.count;
    counted.last_request = request;
    const auto left = std::chrono::ceil<std::chrono::seconds>(window - (now - counted.opened));
    return {counted.count, std::max<std::int64_t>(1, left.count())};
}

MemoryRateLimit::Window& MemoryRateLimit::window_of(std::string_view key, Clock::time_point now) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) return *found->second;
    if (by_age_.size() >= most_windows) drop_oldest();
    by_age_.push_back({std::string(key), now, 0, {}});
    const auto opened = std::prev(by_age_.end());
    by_key_.emplace(opened->key, opened);
    return *opened;
}

void MemoryRateLimit::drop_oldest() {
    by_key_.erase(by_age_.front().key);
    by_age_.pop_front();
}

std::size_t MemoryRateLimit::windows() const {
    const std::scoped_lock lock(mutex_);
    return by_age_.size();
}

// ------------------------------------------------------------------------------ in the database

DatabaseRateLimit::DatabaseRateLimit(const Kernel& kernel, const RateLimit& what)
    : RateLimit(what), secret_(kernel.sign("rate limits", reason)) {}

DeferredRows<RateWindow> DatabaseRateLimit::count(Tx& tx, std::string_view key) const {
    return tx.later<RateWindow>(count_key, reason, digest_of(secret_, key), window);
}

DeferredRows<RateWindow> DatabaseRateLimit::count_presented(Tx& tx) const {
    return tx.later<RateWindow>(count_credential, reason, bytes_of(secret_), window);
}

void DatabaseRateLimit::refund(Tx& tx, std::string_view key) const {
    tx.queue(refund_one, reason, digest_of(secret_, key));
}

void core::sweep_rate_windows(db::Database& database) {
    for (std::size_t deleted = 1; deleted > 0;)
        database.transact(Tx::Mode::write, [&](Tx& tx) { deleted = tx.run(delete_ended); });
}

}  // namespace svc

#include "modules/auth/attempts.hpp"

#include <algorithm>

namespace svc::auth {

namespace {

constexpr Sql count_one{"auth.count_attempt", R"(
    INSERT INTO attempts AS a (key, count) VALUES ($1, 1)
    ON CONFLICT (key) DO UPDATE
    SET count = CASE WHEN a.opened_at + $2 <= now() THEN 1 ELSE a.count + 1 END,
        opened_at = CASE WHEN a.opened_at + $2 <= now() THEN now() ELSE a.opened_at END
    RETURNING a.count, ceil(extract(epoch FROM a.opened_at + $2 - now()))::bigint AS seconds_left)"};

constexpr Sql take_one_back{"auth.take_attempt_back", R"(
    UPDATE attempts SET count = greatest(count - 1, 0) WHERE key = $1)"};

constexpr Sql delete_old{"auth.sweep_attempts", R"(
    DELETE FROM attempts WHERE opened_at < now() - interval '2 days')"};

/// No address is kept in the clear.
struct Key {
    std::string bytes;
    Key(const Kernel& kernel, const Limit& limit, std::string_view who)
        : bytes(kernel.sign("auth.attempts", std::string(limit.what) + '\n' + std::string(who))) {}
    std::span<const std::uint8_t> span() const {
        return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
    }
};

}  // namespace

Later<Window> count_attempt(
    Tx& tx, const Kernel& kernel, const Limit& limit, std::string_view who
) {
    return tx.later<Window>(
        count_one, Key(kernel, limit, who).span(), std::chrono::seconds(limit.window)
    );
}

void take_back(Tx& tx, const Kernel& kernel, const Limit& limit, std::string_view who) {
    tx.queue(take_one_back, Key(kernel, limit, who).span());
}

void require_within(const Limit& limit, const Window& window) {
    if (window.count <= limit.most) return;
    const auto seconds = std::max<std::int64_t>(window.seconds_left, 1);
    throw Failure(
        Fault::rate_limited,
        "Too many attempts; try again in " + std::to_string((seconds + 59) / 60) + " minutes."
    )
        .with("rate_limit_reason", std::string(limit.what))
        .with_header("Retry-After", std::to_string(seconds));
}

void sweep_attempts(Tx& tx) { tx.queue(delete_old); }

}  // namespace svc::auth

#pragma once

#include "modules/boards/api/kinds.hpp"

/// Leases, as they are shown, and their events (contract 6.22 to 6.24).
namespace svc::queue {

enum class LeaseState { active, completed, failed, expired, released, revoked };
BOOST_DESCRIBE_ENUM(LeaseState, active, completed, failed, expired, released, revoked)

/// What a worker leaves behind: any JSON object.
using LeaseResultData = AsJson<std::map<std::string, JsonText>>;

/// What an attempt cost, as its holder says; nobody checks it.
struct LeaseCost {
    std::optional<double> amount;
    std::optional<std::string> currency;
    std::optional<std::int64_t> input_tokens;
    std::optional<std::int64_t> output_tokens;
    std::optional<std::string> model;
};
SVC_SHARED_RECORD(
    LeaseCost,
    (amount, "Money."),
    (currency, "The currency, such as `USD`.", length(3, 3)),
    (input_tokens, "Tokens that a language model read.", range(0, 1'000'000'000'000)),
    (output_tokens, "Tokens that it wrote.", range(0, 1'000'000'000'000)),
    (model, "Which model it was.", length(1, 100))
);

struct Lease {
    Object<"lease"> object;
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    Uuid column_id;
    Uuid card_id;
    PrincipalRef holder;
    LeaseState state{};
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
    std::int64_t lease_ttl_seconds = 0;
    Timestamp claimed_at;
    std::optional<Timestamp> renewed_at;
    Timestamp expires_at;
    std::optional<Timestamp> ended_at;
    std::optional<std::string> error;
    std::optional<LeaseResultData> result;
    std::optional<LeaseCost> cost;
};
SVC_SHARED_RECORD(
    Lease,
    (object),
    (id),
    (org_id, "The workspace."),
    (board_id),
    (column_id, "The queue it was claimed from."),
    (card_id),
    (holder, "Who claimed the card."),
    (state, "`active` until somebody ends it, also a little past `expires_at`."),
    (attempt, "Which try of the card this is, beginning with 1."),
    (epoch, "Rises with every claim of the card: a fence against work of earlier holders."),
    (lease_ttl_seconds, "How long it holds from the claim, or from the last renewal."),
    (claimed_at, "When its holder claimed the card."),
    (renewed_at, "When it was last renewed; null when it never was."),
    (expires_at, "Renew before, or the card is given to somebody else."),
    (ended_at, "When it ended; null while it is live."),
    (error, "What a failed holder had to say."),
    (result, "What a holder who completed the card left behind: an object."),
    (cost, "What the attempt cost, as its holder said when it ended; null when they said nothing.")
);

/// What the token of a lease says of itself. Whether it is good is for operations to say. Any
/// thread.
class LeaseTokens {
public:
    static constexpr std::string_view name = "queue.lease_tokens";
    virtual ~LeaseTokens() = default;
    /// The card that it was given for; nothing when it is no token.
    virtual std::optional<Uuid> card_of(std::string_view token) const = 0;
};

inline constexpr EventKind lease_claimed{
    "lease.claimed",
    "lease",
    "A worker took a card.",
    &record_of<Lease>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind lease_completed{
    "lease.completed",
    "lease",
    "A worker completed its card.",
    &record_of<Lease>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind lease_failed{
    "lease.failed",
    "lease",
    "A worker failed at its card.",
    &record_of<Lease>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind lease_expired{
    "lease.expired",
    "lease",
    "A worker was not heard of in time.",
    &record_of<Lease>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind lease_released{
    "lease.released",
    "lease",
    "A worker gave its card back.",
    &record_of<Lease>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind lease_revoked{
    "lease.revoked",
    "lease",
    "A card was taken from its worker.",
    &record_of<Lease>,
    at::board | at::column | at::card,
    Subject::read};

}  // namespace svc::queue

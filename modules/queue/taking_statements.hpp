#pragma once

#include "svc/tx.hpp"

#include <string_view>

/// The statement that claims cards of a column.
namespace svc::queue {

/// What a claim's event does not know before.
inline constexpr std::string_view found_by_claim[] = {
    "id", "card_id", "attempt", "epoch", "lease_ttl_seconds", "claimed_at", "expires_at"};

struct TakeWish {
    bool just_one = false;       ///< at most one card
    bool counts_limits = false;  ///< of the column, of the agent, or of where completed cards go
};
const Sql& taking_statement(TakeWish wish);

}  // namespace svc::queue

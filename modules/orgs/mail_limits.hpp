#pragma once

#include "modules/orgs/orgs.hpp"
#include "svc/rate_limit.hpp"

/// How many mails of workspaces somebody may make, and an address may be sent, in a day. Counted
/// over all workspaces, in the transaction that makes the mail, so what was refused is not counted.
namespace svc::orgs {

/// Queues one more mail of the person behind the call; nothing when there is none.
std::optional<DeferredRows<RateWindow>> count_sent(Call& call);
/// Queues one more mail to the address that the transaction presents (present_address or
/// present_address_of). Always after count_sent, so that no two wait for each other.
DeferredRows<RateWindow> count_received(Call& call);

/// Queues that the transaction presents an address, as it is compared (or the digest of a token, in
/// hexadecimal), or that of a person whom row-level security admits.
void present_address(Tx& tx, const std::string& key);
void present_address_of(Tx& tx, const Uuid& user);

/// 429 when either count is beyond what the settings allow. Waits.
void require_mails_left(
    Call& call, std::optional<DeferredRows<RateWindow>>& sent, DeferredRows<RateWindow>& received
);

}  // namespace svc::orgs

#pragma once

#include "modules/orgs/orgs.hpp"

/// How many mails of workspaces somebody may make, and an address may be sent, in a day. Counted
/// over all workspaces, in the transaction that makes the mail, so what was refused is not counted.
namespace svc::orgs {

struct MailCount {
    std::int64_t mails = 0;
    std::int64_t seconds = 1;  ///< until the count starts anew
};
SVC_SHARED_RECORD(MailCount, (mails), (seconds));

/// Queues one more mail of the person behind the call. The transaction has to act for that person.
Later<MailCount> count_sent(Call& call);
/// Queues one more mail to the address that the transaction presents (present_address or
/// present_address_of). Always after count_sent, so that no two wait for each other.
Later<MailCount> count_received(Call& call);

/// Queues that the transaction presents an address, as it is compared (or the digest of a token, in
/// hexadecimal), or that of a person whom row-level security admits.
void present_address(Tx& tx, const std::string& key);
void present_address_of(Tx& tx, const Uuid& user);

/// 429 when either count is beyond what the settings allow. Waits.
void require_mails_left(Call& call, Later<MailCount>& sent, Later<MailCount>& received);

/// Queues the end of counts that no longer matter, in all workspaces.
void sweep_mail_counts(Tx& tx);

}  // namespace svc::orgs

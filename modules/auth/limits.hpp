#pragma once

#include "svc/call.hpp"
#include "svc/rate_limit.hpp"

/// How often strangers may try what, from the settings.
namespace svc::auth {

DatabaseRateLimit sign_ups_from_one_place(Call& call);
/// Wishes for a mail: a new link to confirm an address, a new password. Both together.
DatabaseRateLimit mails_from_one_place(Call& call);
/// Mails of one sort to one address; `who` is the sort and the address.
DatabaseRateLimit mails_to_one_address(Call& call);
/// Log-ins that went wrong: with one address from one place, and with any from there.
DatabaseRateLimit log_ins_of_pair(Call& call);
DatabaseRateLimit log_ins_from_one_place(Call& call);
/// Ways to the identity provider and back, from one place, that did not end signed in.
DatabaseRateLimit departures_from_one_place(Call& call);
DatabaseRateLimit returns_to_one_place(Call& call);
/// Wrong guesses at the password of something else: from one place, and from anywhere. `what` has
/// static storage.
DatabaseRateLimit guesses_from_one_place(Call& call, std::string_view what);
DatabaseRateLimit guesses_from_anywhere(Call& call, std::string_view what);
/// Wrong guesses at the present password by somebody who is signed in, per person.
DatabaseRateLimit password_checks(Call& call);

}  // namespace svc::auth

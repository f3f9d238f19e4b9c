#pragma once

#include "modules/mail/api.hpp"

/// What auth writes to people. Whatever a stranger asks for with somebody's address, that address
/// gets one mail, whether or not it has an account: so asking takes the same work either way.
namespace svc::auth {

/// With the link that confirms an address and signs in.
mail::MailTemplate confirm_mail(Call& call, const Email& to, const std::string& link);
/// The answer to a sign-up, or to a request for a new link, when the address has an account.
mail::MailTemplate account_exists_mail(Call& call, const Email& to);
/// The answer to a sign-up, or to a request for a new link, when it takes an invitation and the
/// address has none.
mail::MailTemplate not_invited_mail(Call& call, const Email& to);
/// The answer to a request for a new link when nobody has signed up.
mail::MailTemplate nothing_to_confirm_mail(Call& call, const Email& to);

/// With the link that leads to a new password.
mail::MailTemplate reset_mail(Call& call, const Email& to, const std::string& token);
/// The answer to a request for a new password when the address has no account.
mail::MailTemplate nothing_to_reset_mail(Call& call, const Email& to);
/// Tells the owner that there is a new password; whoever did not set it acts on this.
mail::MailTemplate password_changed_mail(Call& call, const Email& to);

/// Where the mailed token of a sign-up leads.
std::string confirmation_link(const Kernel& kernel, const std::string& token);

}  // namespace svc::auth

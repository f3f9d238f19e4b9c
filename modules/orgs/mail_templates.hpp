#pragma once

#include "modules/mail/api.hpp"

/// The mails of this module. Everything in them is plain text: the mail module escapes it.
namespace svc::orgs {

/// What a mail says of the workspace and of who sends it.
struct Sender {
    std::string org_name;
    std::optional<std::string> name;  ///< of whoever brings the person in
    std::string base_url;
};

/// To an address that has an account, or none: it says the same.
mail::MailTemplate invitation_mail(
    const Sender& from,
    const Email& to,
    const std::string& link,
    const std::optional<std::string>& message,
    std::int64_t days
);
/// To somebody who has been given a seat and has yet to confirm the address.
mail::MailTemplate sign_up_mail(const Sender& from, const Email& to, const std::string& link);
/// To somebody with an account who has been given a seat.
mail::MailTemplate member_mail(const Sender& from, const Email& to);

}  // namespace svc::orgs

#include "modules/auth/mail_templates.hpp"

#include "modules/auth/settings.hpp"

namespace svc::auth {

namespace {

constexpr const char* nothing_to_do = "If it was not you, there is nothing to do.";

std::string counted(std::int64_t number, const std::string& unit) {
    return std::to_string(number) + ' ' + unit + (number == 1 ? "" : "s");
}

}  // namespace

std::string confirmation_link(const Kernel& kernel, const std::string& token) {
    return kernel.base_url() + "/verify-email?token=" + token;
}

mail::MailTemplate confirm_mail(Call& call, const Email& to, const std::string& link) {
    const auto hours = counted(call.use<Settings>().verify_hours, "hour");
    return {
        .kind = "verify_email",
        .to = to,
        .subject = "Confirm your address for Workboard",
        .opening = {"Somebody, most likely you, has signed up for Workboard with this address. "
                    "Follow the link to confirm that it is yours and to sign in."},
        .link = link,
        .link_label = "Confirm this address",
        .closing =
            {"The link works once, within " + hours + ".",
             "If it was not you, there is nothing to do: without the link no account is made."},
        .about = mail::About::account,
    };
}

mail::MailTemplate account_exists_mail(Call& call, const Email& to) {
    return {
        .kind = "account_exists",
        .to = to,
        .subject = "You already have a Workboard account",
        .opening = {"Somebody, perhaps you, has tried to sign up for Workboard with this address, "
                    "or to confirm it. It has an account already, and nothing about it was "
                    "changed."},
        .link = call.kernel().base_url() + "/login",
        .link_label = "Sign in",
        .closing =
            {"A forgotten password can be replaced at " + call.kernel().base_url() +
                 "/reset-password.",
             nothing_to_do},
        .about = mail::About::account,
    };
}

mail::MailTemplate not_invited_mail(Call& call, const Email& to) {
    return {
        .kind = "not_invited",
        .to = to,
        .subject = "Workboard takes an invitation",
        .opening =
            {"Somebody, perhaps you, has tried to sign up for Workboard with this address. "
             "This server takes new accounts by invitation only, and none waits for this "
             "address, so no account was made.",
             "Ask somebody in the workspace to invite this very address, and sign up once "
             "more."},
        .link = call.kernel().base_url(),
        .link_label = "To Workboard",
        .closing = {nothing_to_do},
        .about = mail::About::account,
    };
}

mail::MailTemplate nothing_to_confirm_mail(Call& call, const Email& to) {
    return {
        .kind = "nothing_to_confirm",
        .to = to,
        .subject = "Nothing to confirm at Workboard",
        .opening = {"Somebody, perhaps you, has asked Workboard for a new link to confirm this "
                    "address. Nobody has signed up with it, or the sign-up has run out, so there "
                    "is nothing to confirm: sign up once more."},
        .link = call.kernel().base_url(),
        .link_label = "To Workboard",
        .closing = {nothing_to_do},
        .about = mail::About::account,
    };
}

mail::MailTemplate reset_mail(Call& call, const Email& to, const std::string& token) {
    return {
        .kind = "password_reset",
        .to = to,
        .subject = "A new password for Workboard",
        .opening = {"Somebody, most likely you, has asked for a new password for the Workboard "
                    "account of this address. Follow the link to choose it."},
        .link = call.kernel().base_url() + "/reset-password?token=" + token,
        .link_label = "Choose a new password",
        .closing =
            {"The link works once, within " +
                 counted(call.use<Settings>().reset_minutes, "minute") +
                 ". It ends every session of the account.",
             "If it was not you, there is nothing to do: the password stays as it is."},
        .about = mail::About::account,
    };
}

mail::MailTemplate nothing_to_reset_mail(Call& call, const Email& to) {
    return {
        .kind = "nothing_to_reset",
        .to = to,
        .subject = "No Workboard account with this address",
        .opening = {"Somebody, perhaps you, has asked for a new password for the Workboard account "
                    "of this address. There is none: it may be under another address, or the "
                    "address was never confirmed."},
        .link = call.kernel().base_url(),
        .link_label = "To Workboard",
        .closing = {nothing_to_do},
        .about = mail::About::account,
    };
}

mail::MailTemplate password_changed_mail(Call& call, const Email& to) {
    return {
        .kind = "password_changed",
        .to = to,
        .subject = "Your Workboard password was changed",
        .opening = {"Your Workboard account has a new password. If you set it, there is nothing to "
                    "do."},
        .link = call.kernel().base_url() + "/reset-password",
        .link_label = "It was not me: choose another",
        .closing = {"Whoever reads your mail can do the same; change that password too."},
        .about = mail::About::account,
    };
}

}  // namespace svc::auth

#include "modules/orgs/mail_templates.hpp"

namespace svc::orgs {

namespace {

std::string sender_of(const Sender& from) { return from.name.value_or("An admin"); }

}  // namespace

mail::MailTemplate invitation_mail(
    const Sender& from,
    const Email& to,
    const std::string& link,
    const std::optional<std::string>& message,
    std::int64_t days
) {
    mail::MailTemplate mail_template{
        .kind = "invitation",
        .to = to,
        .subject = sender_of(from) + " invites you to " + from.org_name + " on Workboard",
        .opening = {sender_of(from) + " invites you to work together in " + from.org_name + "."},
        .link = link,
        .link_label = "See the invitation",
        .closing =
            {"It is meant for " + to.str() + " and can be accepted within " + std::to_string(days) +
                 " days.",
             "If you do not know what this is about, there is nothing to do."},
    };
    if (message) mail_template.quote = *message;
    return mail_template;
}

mail::MailTemplate sign_up_mail(const Sender& from, const Email& to, const std::string& link) {
    return {
        .kind = "added_newcomer",
        .to = to,
        .subject = "You have been added to " + from.org_name + " on Workboard",
        .opening =
            {sender_of(from) + " has added you to the workspace " + from.org_name + ".",
             "Follow the link to confirm that this address is yours and to sign in."},
        .link = link,
        .link_label = "Confirm this address",
        .closing = {"If you do not know what this is about, there is nothing to do."},
    };
}

mail::MailTemplate member_mail(const Sender& from, const Email& to) {
    return {
        .kind = "added_member",
        .to = to,
        .subject = "You have been added to " + from.org_name + " on Workboard",
        .opening = {sender_of(from) + " has added you to the workspace " + from.org_name + "."},
        .link = from.base_url + "/",
        .link_label = "Open Workboard",
        .closing = {"If you would rather not be in it, you can leave it at any time."},
    };
}

}  // namespace svc::orgs

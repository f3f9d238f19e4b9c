#include "modules/notifications/mails.hpp"

#include "modules/notifications/choices.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

namespace svc::notifications {

namespace {

constexpr std::string_view purpose = "notifications.unsubscribe", digest = "digest";

std::string signature_of(const Kernel& kernel, const std::string& what) {
    return base64(std::string_view(kernel.sign(purpose, what)).substr(0, 16));
}

/// What is the person's alone is no business of those who administer a workspace, and see the
/// subjects of its mails.
bool is_of_person_alone(const Draft& draft) {
    return draft.is_personal || draft.kind == NotificationKind::feedback;
}

}  // namespace

std::string url_of(const Kernel& kernel, const NotificationTarget& target) {
    const std::string& base = kernel.base_url();
    if (target.card_id) return base + "/cards/" + target.card_id->str();
    if (target.board_id) return base + "/boards/" + target.board_id->str();
    if (target.type == "invitation") return base + "/invitations/" + target.id.str();
    if (target.type == "agent") return base + "/agents/" + target.id.str();
    if (target.type == "webhook") return base + "/webhooks/" + target.id.str();
    if (target.type == "automation") return base + "/automations";
    if (target.type == "feedback") return base + "/feedback";
    return base + "/";
}

void send_mail(
    const Kernel& kernel, Tx& tx, const Draft& draft, const Uuid& person, const Email& to
) {
    auto* outbox = kernel.find<mail::Outbox>();
    if (!outbox) return;
    const NotificationTarget target{draft.target_type, draft.target, draft.board, draft.card, {}};
    mail::MailTemplate mail{
        .kind = "notification",
        .to = to,
        .subject = draft.title,
        .opening = {draft.title + "."},
        .quote = draft.body,
        .link = url_of(kernel, target),
        .link_label = "Open Workboard",
    };
    mail.unsubscribe = unsubscribe_url(kernel, {person, draft.kind});
    outbox->post(tx, is_of_person_alone(draft) ? Uuid() : draft.org, mail);
}

std::string unsubscribe_url(const Kernel& kernel, const Unsubscribing& what) {
    const std::string text =
        std::string(what.kind ? name_of(*what.kind) : digest) + "." + hex(what.person.bytes());
    return kernel.base_url() + "/unsubscribe?token=" + text + "." + signature_of(kernel, text);
}

std::optional<Unsubscribing> read_unsubscribe_token(const Kernel& kernel, std::string_view token) {
    const auto end = token.rfind('.');
    if (end == token.npos) return std::nullopt;
    const std::string text(token.substr(0, end));
    if (!same_secret(signature_of(kernel, text), token.substr(end + 1))) return std::nullopt;
    const auto dot = text.find('.');
    const auto person = Uuid::parse(std::string_view(text).substr(dot + 1));
    if (!person) return std::nullopt;
    const auto word = std::string_view(text).substr(0, dot);
    if (word == digest) return Unsubscribing{*person, std::nullopt};
    const auto kind = kind_named(word);
    if (!kind) return std::nullopt;
    return Unsubscribing{*person, kind};
}

}  // namespace svc::notifications

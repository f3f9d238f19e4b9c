// Another link to confirm an address, for whoever cannot find the first one.

#include "modules/auth/accounts.hpp"
#include "modules/auth/admission.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/limits.hpp"
#include "modules/auth/mail_templates.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "modules/auth/sign_up_links.hpp"
#include "svc/secrets.hpp"

namespace svc::auth {

namespace {

// What there is under the address: an account, somebody whom an admin has brought in, or sign-ups
// that wait. Of these those count that have a password; `sole` is the one when there is no other.
constexpr Sql find_waiting{"auth.find_waiting", R"(
    SELECT account.email AS account, unverified.email AS unverified,
        waiting.email AS sign_up, waiting.sole_id AS sole
    FROM (SELECT $1::text AS email_key) asked
    LEFT JOIN users account ON account.email_key = asked.email_key AND account.email_verified
    LEFT JOIN users unverified
        ON unverified.email_key = asked.email_key AND NOT unverified.email_verified
    CROSS JOIN LATERAL (
        SELECT min(s.email) AS email,
            CASE WHEN count(*) = 1 THEN min(s.id::text)::uuid END AS sole_id
        FROM sign_ups s
        WHERE s.email_key = asked.email_key AND s.expires_at > now()
          AND s.password_hash IS NOT NULL
    ) waiting)"};

constexpr Sql renew_sign_up{"auth.renew_sign_up", R"(
    UPDATE sign_ups SET token_digest = $2, expires_at = now() + $3 WHERE id = $1)"};

struct Waiting {
    std::optional<Email> account;
    std::optional<Email> unverified;
    std::optional<Email> sign_up;
    std::optional<Uuid> sole;
};
SVC_RECORD(Waiting, (account), (unverified), (sign_up), (sole));

struct ResendVerificationRequest {
    Email email;
};
SVC_RECORD(ResendVerificationRequest, (email, "The address that was signed up with."));

/// A link that brings the password of `sole`, and nothing but the address without it. Does the
/// same to the database either way, also when the link is mailed to nobody.
std::string new_link(Call& call, const Email& email, const std::optional<Uuid>& sole) {
    const std::string token = random_token();
    const Uuid bare = wait_for_confirmation(call, email, random_token());
    call.tx().queue(
        renew_sign_up,
        sole.value_or(bare),
        sha256(token),
        std::chrono::seconds(std::chrono::hours(call.use<Settings>().verify_hours))
    );
    return confirmation_link(call.kernel(), token);
}

mail::MailTemplate template_for(
    Call& call, const Email& asked, const Waiting& waiting, bool admitted
) {
    // Of several passwords, and of a stranger's for whom an admin has brought in, nobody knows
    // whose they are: none counts.
    const bool sole = waiting.sole && !waiting.unverified && !waiting.account;
    const auto& to = waiting.unverified ? waiting.unverified : waiting.sign_up;
    const auto link = new_link(call, to.value_or(asked), sole ? waiting.sole : std::nullopt);
    if (waiting.account) return account_exists_mail(call, *waiting.account);
    if (to && !admitted) return not_invited_mail(call, asked);
    return to ? confirm_mail(call, *to, link) : nothing_to_confirm_mail(call, asked);
}

void resend_now(Call& call, const ResendVerificationRequest& in) {
    const std::string key = email_key(in.email);
    const auto of_place = mails_from_one_place(call), of_address = mails_to_one_address(call);
    Tx& tx = call.tx();
    present(tx, key);
    auto from_place = of_place.count(tx, network_of(call.client_address()));
    auto to_address = of_address.count(tx, "resend\n" + key);
    const auto admitted = check_admission(call, in.email);
    const auto waiting = *tx.one<Waiting>(find_waiting, key);
    of_place.require(from_place.one_or_retry());
    if (!of_address.allows(to_address.one_or_retry())) return;
    call.use<mail::Outbox>().post(call, template_for(call, in.email, waiting, admitted()));
}

const Operation resend_verification{
    .name = "resend_verification",
    .route = "POST /v1/auth/resend-verification",
    .summary = "Ask for another link to confirm an address.",
    .description =
        "Sends a mail to the address: with a new link when a sign-up waits for it (the old link "
        "stops working), otherwise saying that there is nothing to confirm. The answer is the "
        "same either way. When several sign-ups wait, or an admin has added the address, the link "
        "brings no password: set one after following it.",
    .access = Access::anyone,
    .status = 204,
    .guards = {refuse_other_sites},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = resend_now,
};

}  // namespace

void add_resend_operation(Kernel& kernel) { kernel.add(resend_verification); }

}  // namespace svc::auth

// Another link to confirm an address, for whoever cannot find the first one.

#include "modules/auth/accounts.hpp"
#include "modules/auth/admission.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/letters.hpp"
#include "modules/auth/limits.hpp"
#include "modules/auth/newcomers.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "svc/secrets.hpp"

namespace svc::auth {

namespace {

// What there is under the address: an account, somebody whom an admin has brought in, or sign-ups
// that wait. Of these those count that have a password; `sole` is the one when there is no other.
constexpr Sql find_waiting{"auth.find_waiting", R"(
    SELECT account.email AS account, newcomer.email AS newcomer,
        waiting.email AS sign_up, waiting.sole_id AS sole
    FROM (SELECT $1::text AS email_key) asked
    LEFT JOIN users account ON account.email_key = asked.email_key AND account.email_verified
    LEFT JOIN users newcomer
        ON newcomer.email_key = asked.email_key AND NOT newcomer.email_verified
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
    std::optional<Email> newcomer;
    std::optional<Email> sign_up;
    std::optional<Uuid> sole;
};
SVC_RECORD(Waiting, (account), (newcomer), (sign_up), (sole));

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

mail::Letter letter_for(Call& call, const Email& asked, const Waiting& waiting, bool admitted) {
    // Of several passwords, and of a stranger's for whom an admin has brought in, nobody knows
    // whose they are: none counts.
    const bool sole = waiting.sole && !waiting.newcomer && !waiting.account;
    const auto& to = waiting.newcomer ? waiting.newcomer : waiting.sign_up;
    const auto link = new_link(call, to.value_or(asked), sole ? waiting.sole : std::nullopt);
    if (waiting.account) return account_exists_letter(call, *waiting.account);
    if (to && !admitted) return not_invited_letter(call, asked);
    return to ? confirm_letter(call, *to, link) : nothing_to_confirm_letter(call, asked);
}

void resend_now(Call& call, const ResendVerificationRequest& in) {
    const std::string key = email_key(in.email);
    const Limit of_place = mails_from_one_place(call), of_address = mails_to_one_address(call);
    Tx& tx = call.tx();
    present(tx, key);
    auto from_place = count_attempt(tx, call.kernel(), of_place, network_of(call.client_address()));
    auto to_address = count_attempt(tx, call.kernel(), of_address, "resend\n" + key);
    const auto admitted = ask_admission(call, in.email);
    const auto waiting = *tx.one<Waiting>(find_waiting, key);
    require_within(of_place, from_place.must());
    if (to_address.must().count > of_address.most) return;
    call.use<mail::Outbox>().post(call, letter_for(call, in.email, waiting, admitted()));
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

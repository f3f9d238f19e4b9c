// From a stranger's address to a person: sign up, follow the mailed link.
//
// A sign-up makes no person. It waits in `sign_ups` with the password and the name it came with
// until somebody follows the link that went to that address, and what others tried with the
// address leads nowhere. The password counts in the browser it was typed in: whoever confirms a
// stranger's sign-up, because the mail asked for it, has an account without a password, and not
// one with the stranger's. So nobody can prepare an account for another, and the answer to a
// sign-up is the same whether or not there is one.

#include "modules/auth/accounts.hpp"
#include "modules/auth/admission.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/hash_pool.hpp"
#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/lib/time_zone.hpp"
#include "modules/auth/limits.hpp"
#include "modules/auth/mail_templates.hpp"
#include "modules/auth/preferences.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "modules/auth/users.hpp"
#include "modules/orgs/api.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

namespace svc::auth {

namespace {

// It waits whether or not the address has an account: what happens to a log-in with it is the
// same either way. Of one that has, nobody learns the token.
constexpr Sql insert_sign_up{"auth.insert_sign_up", R"(
    INSERT INTO sign_ups
        (id, email, email_key, token_digest, password_hash, name, preferences, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8))"};

constexpr Sql find_account{"auth.find_account_to_sign_up", R"(
    SELECT now() AS now,
        (SELECT u.email FROM users u WHERE u.email_key = $1 AND u.email_verified) AS email)"};

constexpr Sql verify{"auth.verify", R"(
    SELECT id FROM verify_sign_up($1, $2, $3))"};

constexpr Sql delete_old{"auth.sweep_sign_ups", R"(
    DELETE FROM sign_ups WHERE expires_at < now() - interval '1 day')"};

struct Found {
    Timestamp now;
    std::optional<Email> email;
};
SVC_RECORD(Found, (now), (email));

// --------------------------------------------------------------------------- sign up

struct SignupRequest {
    Email email;
    std::string password;
    std::optional<std::string> name;
    std::optional<std::string> invitation_token;
    std::optional<std::string> locale;
    std::optional<std::string> timezone;
};
SVC_RECORD(
    SignupRequest,
    (email, "Where the link to confirm the address is sent."),
    (password, "At least 8 characters.", length(8, 128), secret),
    (name, "As people will see you.", length(1, 120), trimmed),
    (invitation_token,
     "From an invitation mail to the same address, which confirms the address at once.",
     length(0, 128),
     secret),
    (locale, "Preferred language, such as `en` or `de-CH`.", length(2, 35), matches(locale_pattern)
    ),
    (timezone,
     "Preferred time zone, such as `Europe/Zurich`.",
     length(1, 64),
     matches(time_zone_pattern))
);

/// What differs from the default preferences.
struct FirstPreferences {
    std::optional<std::string> locale, timezone;
};
SVC_RECORD(FirstPreferences, (locale, "", omit_empty), (timezone, "", omit_empty));

std::string hash_of(Call& call, const std::string& password) {
    return call.use<HashPool>().result_of<std::string>(call, [&] {
        const auto limit = sign_ups_from_one_place(call);
        RateWindow window;
        call.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
            window = limit.count(tx, network_of(call.client_address())).one_or_retry();
        });
        limit.require(window);
        return [&passwords = call.use<Passwords>(), password] { return passwords.hash(password); };
    });
}

/// Queues the question whether the sign-up came with the token of an invitation that was mailed to
/// the same address.
std::function<bool()> check_proof(Call& call, const SignupRequest& in) {
    const auto* invitations = call.kernel().find<orgs::Invitations>();
    if (!invitations || !in.invitation_token || in.invitation_token->empty())
        return [] { return false; };
    return invitations->proves(call.tx(), *in.invitation_token, in.email);
}

/// Makes the person whose sign-up has this token; nothing when the address has an account.
std::optional<UserResponse> admit(Call& call, const Sha256& digest) {
    Tx& tx = call.tx();
    present(tx, hex(digest));
    auto verified = tx.queue(verify, digest, true, std::optional<Uuid>());
    auto person = find_user_of_session(tx, std::nullopt);
    return verified.rows() == 0 ? std::nullopt : person.one();
}

/// What a sign-up that waits for its link looks like, and one that waits for nothing.
UserResponse unverified(const SignupRequest& in, const Uuid& id, Timestamp now) {
    return {
        .object = {},
        .id = id,
        .type = UserType::person,
        .name = in.name,
        .avatar_url = {},
        .person = PersonDetails{in.email},
        .bot = {},
        .email = in.email,
        .email_verified = false,
        .has_password = true,
        .auth_methods = {SignIn::password},
        .agent_id = {},
        .active_org_id = {},
        .role = {},
        .created_time = now,
        .last_edited_time = now,
    };
}

UserResponse sign_up_now(Call& call, const SignupRequest& in) {
    if (in.timezone && !is_time_zone(*in.timezone))
        throw wrong_field(call, "timezone", "there is no such time zone");
    const std::string hash = hash_of(call, in.password);
    const std::string key = email_key(in.email), token = random_token();
    const Uuid id = new_uuid();
    const auto limit = mails_to_one_address(call);
    Tx& tx = call.tx();
    present(tx, key);
    auto mails = limit.count(tx, key);
    auto found = tx.later<Found>(find_account, key);
    const auto proven = check_proof(call, in);
    const auto admitted = check_admission(call, in.email);
    tx.queue(
        insert_sign_up,
        id,
        in.email,
        key,
        sha256(token),
        hash,
        in.name,
        FirstPreferences{in.locale, in.timezone},
        std::chrono::seconds(std::chrono::hours(call.use<Settings>().verify_hours))
    );
    auto [now, account] = found.one_or_retry();
    if (proven() && !account) {
        if (auto person = admit(call, sha256(token))) return *std::move(person);
        account = in.email;  // somebody was quicker
    }
    if (limit.allows(mails.one_or_retry()))
        call.use<mail::Outbox>().post(
            call,
            account      ? account_exists_mail(call, *account)
            : admitted() ? confirm_mail(call, in.email, confirmation_link(call.kernel(), token))
                         : not_invited_mail(call, in.email)
        );
    give_sign_up(call, id);
    return unverified(in, id, now);
}

const Operation sign_up{
    .name = "sign_up",
    .route = "POST /v1/auth/signup",
    .summary = "Sign up with an address and a password.",
    .description =
        "Sends a mail with a link to the address; the account is made when the link is followed. "
        "The answer is the same whether or not the address has an account: if it has one, its "
        "owner is told so by mail, and so is whoever needs an invitation and has none "
        "(`auth.sign_up`). 403, reason `sign_up_closed` while nobody may sign up. The cookie "
        "`svc_signup` "
        "lets this browser confirm the sign-up "
        "with its password.",
    .access = Access::anyone,
    .status = 201,
    .guards = {refuse_other_sites, refuse_when_closed},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = sign_up_now,
};

// ---------------------------------------------------------------------------- verify

struct VerifyEmailRequest {
    std::string token;
};
SVC_RECORD(
    VerifyEmailRequest,
    (token, "From the link in the mail; good for one use.", length(1, 256), trimmed, secret)
);

constexpr Sql address_of_token{"auth.address_of_sign_up", R"(
    SELECT email FROM sign_ups WHERE token_digest = $1 AND expires_at > now())"};

struct Waiting {
    Email email;
};
SVC_RECORD(Waiting, (email));

/// The rule may have changed since the link was mailed.
void require_admission(Call& call, const Sha256& digest) {
    if (sign_up_policy(call.kernel()) == SignUpPolicy::open) return;
    present(call.tx(), hex(digest));
    const auto waiting = call.tx().one<Waiting>(address_of_token, digest);
    if (!waiting) return;
    present(call.tx(), email_key(waiting->email));
    if (!check_admission(call, waiting->email)()) throw sign_up_closed();
}

AuthSessionResponse verify_now(Call& call, const VerifyEmailRequest& in) {
    const Sha256 digest = sha256(in.token);
    require_admission(call, digest);
    Tx& tx = call.tx();
    present(tx, hex(digest));
    const http::Request* request = call.request();
    const auto own = request ? sign_up_in(call.kernel(), *request) : std::nullopt;
    const bool by_program = !request || !from_a_page(*request);
    auto verified = tx.queue(verify, digest, by_program, own);
    auto session = begin_session(call, {.method = AuthMethod::email_verification});
    if (verified.rows() == 0 || !session)
        throw Failure::invalid_at(
            R"(["body","token"])",
            "value_error",
            "This link was used before or has run out; ask for another"
        );
    return *std::move(session);
}

const Operation verify_email{
    .name = "verify_email",
    .route = "POST /v1/auth/verify-email",
    .summary = "Confirm the address of a new account, and sign in.",
    .description =
        "Begins a browser session, as logging in does. In a browser, the password of the sign-up "
        "counts if it was this browser that signed up; in another one the account has none, and "
        "one can be set.",
    .access = Access::anyone,
    .guards = {refuse_other_sites},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = verify_now,
};

}  // namespace

void add_sign_up_operations(Kernel& kernel) {
    kernel.add(sign_up);
    kernel.add(verify_email);
}

void sweep_sign_ups(Tx& tx) { tx.queue(delete_old); }

}  // namespace svc::auth

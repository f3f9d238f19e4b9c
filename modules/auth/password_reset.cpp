// A forgotten password: asked for with an address, chosen anew with the link that is mailed there.

#include "modules/auth/accounts.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/hash_pool.hpp"
#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/limits.hpp"
#include "modules/auth/mail_templates.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

namespace svc::auth {

namespace {

constexpr Sql find_account{"auth.find_account_to_reset", R"(
    SELECT (SELECT u.email FROM users u WHERE u.email_key = $1 AND u.email_verified) AS email)"};

constexpr Sql insert_reset{"auth.insert_reset", R"(
    INSERT INTO password_resets (token_digest, email_key, expires_at)
    VALUES ($1, $2, now() + $3))"};

constexpr Sql find_reset{"auth.find_reset", R"(
    SELECT email_key FROM password_resets WHERE token_digest = $1 AND expires_at > now())"};

constexpr Sql admit_reset{"auth.admit_reset", R"(
    SELECT id, email FROM admit_reset($1))"};

constexpr Sql take_reset{"auth.take_reset", R"(
    DELETE FROM password_resets WHERE token_digest = $1 AND expires_at > now())"};

constexpr Sql replace_password{"auth.replace_password", R"(
    INSERT INTO passwords (user_id, hash)
    SELECT svc_user(), $1 WHERE svc_user() IS NOT NULL
    ON CONFLICT (user_id) DO UPDATE
    SET hash = excluded.hash, changed_at = now(), version = passwords.version + 1)"};

constexpr Sql forget_all{"auth.forget_resets", R"(
    DELETE FROM password_resets WHERE email_key = svc_credential())"};

constexpr Sql delete_old{"auth.sweep_resets", R"(
    DELETE FROM password_resets WHERE expires_at < now() - interval '1 day')"};

struct Account {
    std::optional<Email> email;
};
SVC_RECORD(Account, (email));

struct Reset {
    std::string email_key;
};
SVC_RECORD(Reset, (email_key));

struct Owner {
    Uuid id;
    Email email;
};
SVC_RECORD(Owner, (id), (email));

// ------------------------------------------------------------------------- asking for it

struct PasswordResetRequest {
    Email email;
};
SVC_RECORD(PasswordResetRequest, (email, "The address of the account."));

void request_now(Call& call, const PasswordResetRequest& in) {
    const std::string key = email_key(in.email), token = random_token();
    const auto of_place = mails_from_one_place(call), of_address = mails_to_one_address(call);
    Tx& tx = call.tx();
    present(tx, key);
    auto from_place = of_place.count(tx, network_of(call.client_address()));
    auto to_address = of_address.count(tx, "reset\n" + key);
    const auto account = tx.later<Account>(find_account, key).one()->email;
    of_place.require(from_place.one_or_retry());
    if (!of_address.allows(to_address.one_or_retry())) return;
    tx.queue(
        insert_reset,
        sha256(token),
        key,
        std::chrono::seconds(std::chrono::minutes(call.use<Settings>().reset_minutes))
    );
    // To the address of the account, not to the one that was typed, which may differ in case.
    call.use<mail::Outbox>().post(
        call, account ? reset_mail(call, *account, token) : nothing_to_reset_mail(call, in.email)
    );
}

const Operation request_password_reset{
    .name = "request_password_reset",
    .route = "POST /v1/auth/password-reset/request",
    .summary = "Ask for a new password by mail.",
    .description =
        "Sends a mail to the address: with a link to choose a new password, or, if it has no "
        "account, saying so. The answer is the same either way.",
    .access = Access::anyone,
    .status = 204,
    .guards = {refuse_other_sites},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = request_now,
};

// --------------------------------------------------------------------------- choosing it

struct PasswordResetConfirmRequest {
    std::string token;
    std::string new_password;
};
SVC_RECORD(
    PasswordResetConfirmRequest,
    (token, "From the link in the mail; good for one use.", length(1, 256), trimmed, secret),
    (new_password, "At least 8 characters.", length(8, 128), secret)
);

Failure used_up() {
    return Failure::invalid_at(
        R"(["body","token"])",
        "value_error",
        "This link was used before or has run out; ask for another"
    );
}

/// Nothing is hashed for a token that is none.
void require_reset(Call& call, const Sha256& digest) {
    std::optional<Reset> found;
    call.kernel().transact(Tx::Mode::read, [&](Tx& tx) {
        present(tx, hex(digest));
        found = tx.one<Reset>(find_reset, digest);
    });
    if (!found) throw used_up();
}

void confirm_now(Call& call, const PasswordResetConfirmRequest& in) {
    const Sha256 digest = sha256(in.token);
    const auto hash = call.use<HashPool>().result_of<std::string>(call, [&] {
        require_reset(call, digest);
        return [&passwords = call.use<Passwords>(), password = in.new_password] {
            return passwords.hash(password);
        };
    });
    Tx& tx = call.tx();
    present(tx, hex(digest));
    auto owner = tx.later<Owner>(admit_reset, digest);
    auto taken = tx.queue(take_reset, digest);
    tx.queue(replace_password, hash);
    tx.queue(forget_all);
    auto ended = end_sessions_of_person(tx, std::nullopt);
    const auto person = owner.one();
    if (!person || taken.affected() == 0) throw used_up();
    forget_sessions(call, ended.all());
    call.use<mail::Outbox>().post(call, password_changed_mail(call, person->email));
}

const Operation confirm_password_reset{
    .name = "confirm_password_reset",
    .route = "POST /v1/auth/password-reset/confirm",
    .summary = "Choose a new password with the link from the mail.",
    .description =
        "Ends every session of the account and does not begin one: sign in with the new password. "
        "Other links that were asked for stop working.",
    .access = Access::anyone,
    .status = 204,
    .guards = {refuse_other_sites},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = confirm_now,
};

}  // namespace

void add_password_reset_operations(Kernel& kernel) {
    kernel.add(request_password_reset);
    kernel.add(confirm_password_reset);
}

void forget_resets(Tx& tx, const Email& email) {
    present(tx, email_key(email));
    tx.queue(forget_all);
}

void sweep_resets(Tx& tx) { tx.queue(delete_old); }

}  // namespace svc::auth

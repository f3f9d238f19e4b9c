// The password of somebody who is signed in: changing it, and setting the first one.

#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/accounts.hpp"
#include "modules/auth/hash_pool.hpp"
#include "modules/auth/limits.hpp"
#include "modules/auth/mail_templates.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/users.hpp"
#include "modules/orgs/api.hpp"

namespace svc::auth {

namespace {

constexpr EventKind password_changed{
    .name = "account.password_changed",
    .object = "user",
    .summary = "Somebody has changed or set their password.",
};

constexpr Sql find_own{"auth.find_own_password", R"(
    SELECT hash, version FROM passwords WHERE user_id = $1)"};

constexpr Sql change_own{"auth.change_own_password", R"(
    UPDATE passwords SET hash = $2, changed_at = now(), version = version + 1
    WHERE user_id = $1 AND version = $3)"};

constexpr Sql set_own{"auth.set_own_password", R"(
    INSERT INTO passwords (user_id, hash) VALUES ($1, $2)
    ON CONFLICT (user_id) DO NOTHING)"};

constexpr Sql find_address{"auth.find_own_address", R"(
    SELECT email FROM users WHERE id = $1)"};

struct Known {
    std::string hash;
    std::int64_t version = 0;
};
SVC_RECORD(Known, (hash), (version));

struct Address {
    Email email;
};
SVC_RECORD(Address, (email));

/// The person's password as it is now, looked up before the call's own transaction.
std::optional<Known> present_password(Call& call, const std::function<void(Tx&)>& besides = {}) {
    const Uuid person = call.caller().id;
    std::optional<Known> known;
    const auto mode = besides ? Tx::Mode::write : Tx::Mode::read;
    call.kernel().transact(mode, [&](Tx& tx) {
        tx.set_scope(std::nullopt, person);
        auto found = tx.later<Known>(find_own, person);
        if (besides) besides(tx);
        known = found.one();
    });
    return known;
}

/// What links were mailed for is done, and whoever did not do it learns that it was.
void conclude(Call& call, const Email& email) {
    note_in_audit(call, {.kind = &password_changed, .id = call.caller().id, .name = email.str()});
    forget_resets(call.tx(), email);
    call.use<mail::Outbox>().post(call, password_changed_mail(call, email));
}

// ---------------------------------------------------------------------------- change

struct ChangePasswordRequest {
    std::string current_password;
    std::string new_password;
};
SVC_RECORD(
    ChangePasswordRequest,
    (current_password, "The one that is to be replaced.", length(1, 128), secret),
    (new_password, "At least 8 characters.", length(8, 128), secret)
);

Failure wrong_password(const Call& call) {
    return wrong_field(call, "current_password", "this is not the present password");
}

Known admit_check(Call& call) {
    const auto limit = password_checks(call);
    const std::string who = call.caller().id.str();
    RateWindow window;
    const auto known =
        present_password(call, [&](Tx& tx) { window = limit.count(tx, who).one_or_retry(); });
    if (!known)
        throw Failure(Fault::conflict, "The account has no password yet; set one instead.")
            .with("reason", "password_not_set");
    limit.require(window);
    return *known;
}

/// The version the present password was right at, and the hash of the new one; nothing when it
/// was wrong.
struct Checked {
    std::optional<std::string> hash;
    std::int64_t version = 0;
};

void change_now(Call& call, const ChangePasswordRequest& in) {
    const auto checked = call.use<HashPool>().result_of<Checked>(call, [&] {
        return [&passwords = call.use<Passwords>(), known = admit_check(call), in]() -> Checked {
            if (!passwords.matches(known.hash, in.current_password)) return {};
            return {passwords.hash(in.new_password), known.version};
        };
    });
    if (!checked.hash) throw wrong_password(call);
    Tx& tx = call.tx();
    const Caller& caller = call.caller();
    auto changed = tx.queue(change_own, caller.id, *checked.hash, checked.version);
    auto ended = end_sessions_of_person(tx, caller.session_id);
    const auto address = tx.one<Address>(find_address, caller.id);
    if (changed.affected() == 0) throw wrong_password(call);  // another was set while we looked
    forget_sessions(call, ended.all());
    password_checks(call).refund(tx, caller.id.str());
    conclude(call, address->email);
}

const Operation change_my_password{
    .name = "change_my_password",
    .route = "POST /v1/me/password",
    .summary = "Change your password.",
    .description =
        "Ends every other session of yours. A wrong present password is 422 at that field, and "
        "after too many 429; an account without a password answers 409, reason `password_not_set`.",
    .access = Access::person,
    .status = 204,
    .guards = {orgs::refuse_reading_tokens},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = change_now,
};

// ------------------------------------------------------------------------------- set

struct SetPasswordRequest {
    std::string new_password;
};
SVC_RECORD(SetPasswordRequest, (new_password, "At least 8 characters.", length(8, 128), secret));

/// Guard. With a password one gets everything that is the person's, and a token is worth less: it
/// may be read-only, of one workspace, or in another's hands.
void refuse_tokens(Call& call) {
    if (call.caller().session_id) return;
    throw Failure(Fault::restricted, "Sign in with a browser to give the account a password.");
}

Failure already_set() {
    return Failure(Fault::conflict, "The account has a password already; change it instead.")
        .with("reason", "password_already_set");
}

void set_now(Call& call, const SetPasswordRequest& in) {
    const auto hash = call.use<HashPool>().result_of<std::string>(call, [&] {
        if (present_password(call)) throw already_set();
        return [&passwords = call.use<Passwords>(), password = in.new_password] {
            return passwords.hash(password);
        };
    });
    Tx& tx = call.tx();
    auto set = tx.queue(set_own, call.caller().id, hash);
    const auto address = tx.one<Address>(find_address, call.caller().id);
    if (set.affected() == 0) throw already_set();
    conclude(call, address->email);
}

const Operation set_my_password{
    .name = "set_my_password",
    .route = "POST /v1/me/password/set",
    .summary = "Set your account's first password.",
    .description =
        "For accounts that were made without one; from a browser session only, a token is refused. "
        "Where there is one already the answer is 409, reason `password_already_set`.",
    .access = Access::person,
    .status = 204,
    .guards = {refuse_tokens},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = set_now,
};

}  // namespace

void add_password_operations(Kernel& kernel) {
    kernel.add(change_my_password);
    kernel.add(set_my_password);
}

}  // namespace svc::auth

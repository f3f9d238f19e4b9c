// Signing in with a password, and the token that a page needs for writing.

#include "modules/auth/accounts.hpp"
#include "modules/auth/attempts.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/parts/passwords.hpp"
#include "modules/auth/parts/slow_work.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"

namespace svc::auth {

namespace {

// The account's password or, before there is an account, that of the latest sign-up.
constexpr Sql find_password{"auth.find_password", R"(
    (SELECT p.hash, true AS verified
     FROM users u JOIN passwords p ON p.user_id = u.id
     WHERE u.email_key = $1 AND u.email_verified)
    UNION ALL
    (SELECT s.password_hash, false
     FROM sign_ups s
     WHERE s.email_key = $1 AND s.expires_at > now() AND s.password_hash IS NOT NULL
     ORDER BY s.created_time DESC LIMIT 1)
    ORDER BY verified DESC
    LIMIT 1)"};

constexpr Sql renew_hash{"auth.renew_hash", R"(
    UPDATE passwords SET hash = $2
    WHERE hash = $1 AND user_id IN (SELECT u.id FROM users u WHERE u.email_key = $3))"};

struct KnownPassword {
    std::string hash;
    bool verified = false;
};
SVC_RECORD(KnownPassword, (hash, ""), (verified, ""));

struct LoginRequest {
    Email email;
    std::string password;
};
SVC_RECORD(
    LoginRequest,
    (email, "The address of the account."),
    (password, "Its password.", length(1, 128), secret)
);

/// What a log-in is counted against: the address from this place, and the place alone.
struct Limits {
    Limit of_pair, of_place;
    std::string pair, place;

    Limits(Call& call, const Email& email) : place(place_of(call.client_address())) {
        const auto& settings = call.use<Settings>();
        const std::chrono::minutes window(settings.log_in_minutes);
        of_pair = {"log_in", settings.log_ins, window};
        of_place = {"log_in_from_one_place", settings.log_ins_from_one_place, window};
        pair = email_key(email) + '\n' + place;
    }
};

/// Counts the attempt and finds what the password is to be held against.
std::optional<KnownPassword> admit(Call& call, const LoginRequest& in) {
    const Limits limits(call, in.email);
    const std::string key = email_key(in.email);
    std::optional<KnownPassword> known;
    Window pair, place;
    call.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
        auto of_pair = count_attempt(tx, call.kernel(), limits.of_pair, limits.pair);
        auto of_place = count_attempt(tx, call.kernel(), limits.of_place, limits.place);
        present(tx, key);
        auto found = tx.later<KnownPassword>(find_password, key);
        known = found.one();
        pair = *of_pair.one();
        place = *of_place.one();
    });
    require_within(limits.of_pair, pair);
    require_within(limits.of_place, place);
    return known;
}

/// Only what went wrong stays counted.
void take_back_attempt(Call& call, const Email& email) {
    const Limits limits(call, email);
    take_back(call.tx(), call.kernel(), limits.of_pair, limits.pair);
    take_back(call.tx(), call.kernel(), limits.of_place, limits.place);
}

struct Checked {
    bool right = false;
    bool verified = false;
    std::string hash;
    std::optional<std::string> renewed;  ///< when the hash was made at another cost
};

Checked check(
    const Passwords& passwords, const std::optional<KnownPassword>& known, const std::string& given
) {
    // An address without an account takes as long as one with it.
    const std::string hash = known ? known->hash : passwords.decoy();
    Checked out{.right = passwords.matches(hash, given) && known, .hash = hash};
    out.verified = known && known->verified;
    if (out.right && passwords.outdated(hash)) out.renewed = passwords.hash(given);
    return out;
}

Failure wrong_pair() {
    return Failure(Fault::unauthorized, "The address or the password is not right.");
}

AuthSessionResponse log_in_now(Call& call, const LoginRequest& in) {
    const auto checked = call.use<SlowWork>().result_of<Checked>(call, [&] {
        return [&passwords = call.use<Passwords>(), known = admit(call, in), given = in.password] {
            return check(passwords, known, given);
        };
    });
    if (!checked.right) throw wrong_pair();
    if (!checked.verified)
        throw Failure(
            Fault::unverified, "Confirm your address first: follow the link in the mail we sent."
        );
    present(call.tx(), email_key(in.email));
    auto session =
        begin_session(call, {.method = AuthMethod::password, .password_hash = checked.hash});
    if (!session) throw wrong_pair();  // it was changed while we looked
    if (checked.renewed) {
        present(call.tx(), email_key(in.email));
        call.tx().queue(renew_hash, checked.hash, *checked.renewed, email_key(in.email));
    }
    take_back_attempt(call, in.email);
    return *std::move(session);
}

const Operation log_in{
    .name = "log_in",
    .route = "POST /v1/auth/login",
    .summary = "Sign in with an address and its password.",
    .description =
        "Begins a browser session: the cookie `svc_session`, and a token to be sent as "
        "X-CSRF-Token with every write. A wrong pair is 401, a right one before the address is "
        "confirmed 403 `email_not_verified`; after too many wrong ones 429.",
    .access = Access::anyone,
    .guards = {refuse_other_sites},
    .tool = false,
    .body_limit = 16 << 10,
    .handler = log_in_now,
};

// ------------------------------------------------------------------------------ csrf

struct CsrfResponse {
    std::string csrf_token;
};
SVC_RECORD(CsrfResponse, (csrf_token, "The value of the cookie `svc_csrf`, for X-CSRF-Token."));

CsrfResponse csrf(Call& call, const Nothing&) { return {give_csrf_token(call)}; }

const Operation get_csrf_token{
    .name = "get_csrf_token",
    .route = "GET /v1/auth/csrf",
    .summary = "Get the token that writes of a browser session need.",
    .description =
        "Sets the cookie `svc_csrf` and returns its value. Safe before signing in; signing in "
        "gives another, which is bound to the session.",
    .access = Access::anyone,
    .tool = false,
    .handler = csrf,
};

}  // namespace

void add_log_in_operations(Kernel& kernel) {
    kernel.add(log_in);
    kernel.add(get_csrf_token);
}

}  // namespace svc::auth

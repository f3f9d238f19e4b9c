// Signing in with a password, and the token that a page needs for writing.

#include "modules/auth/accounts.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/hash_pool.hpp"
#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/limits.hpp"
#include "modules/auth/sessions.hpp"

namespace svc::auth {

namespace {

// The account's password, and that of the latest sign-up that was not verified. A sign-up waits
// whether or not there is an account, so that a right guess at it tells nothing.
constexpr Sql find_passwords{"auth.find_passwords", R"(
    SELECT account.user_id, account.hash, account.version, sign_up.password_hash AS unverified
    FROM (SELECT $1::text AS email_key) asked
    LEFT JOIN LATERAL (
        SELECT p.user_id, p.hash, p.version
        FROM users u JOIN passwords p ON p.user_id = u.id
        WHERE u.email_key = asked.email_key AND u.email_verified
    ) account ON true
    LEFT JOIN LATERAL (
        SELECT s.password_hash
        FROM sign_ups s
        WHERE s.email_key = asked.email_key AND s.expires_at > now()
          AND s.password_hash IS NOT NULL
        ORDER BY s.created_time DESC LIMIT 1
    ) sign_up ON true)"};

// It is the same password, so its version stays.
constexpr Sql renew_hash{"auth.renew_hash", R"(
    UPDATE passwords SET hash = $3 WHERE user_id = $1 AND hash = $2)"};

struct KnownPasswords {
    std::optional<Uuid> user_id;
    std::optional<std::string> hash;
    std::optional<std::int64_t> version;
    std::optional<std::string> unverified;
};
SVC_RECORD(KnownPasswords, (user_id), (hash), (version), (unverified));

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
    DatabaseRateLimit of_pair, of_place;
    std::string pair, place;

    Limits(Call& call, const Email& email)
        : of_pair(log_ins_of_pair(call)),
          of_place(log_ins_from_one_place(call)),
          place(network_of(call.client_address())) {
        pair = email_key(email) + '\n' + place;
    }
};

/// Counts the attempt and finds what the password is to be held against.
KnownPasswords admit(Call& call, const LoginRequest& in) {
    const Limits limits(call, in.email);
    const std::string key = email_key(in.email);
    KnownPasswords known;
    RateWindow pair, place;
    call.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
        auto of_pair = limits.of_pair.count(tx, limits.pair);
        auto of_place = limits.of_place.count(tx, limits.place);
        present(tx, key);
        known = *tx.one<KnownPasswords>(find_passwords, key);
        pair = of_pair.one_or_retry();
        place = of_place.one_or_retry();
    });
    limits.of_pair.require(pair);
    limits.of_place.require(place);
    return known;
}

/// Only what went wrong stays counted.
void refund_attempt(Call& call, const Email& email) {
    const Limits limits(call, email);
    limits.of_pair.refund(call.tx(), limits.pair);
    limits.of_place.refund(call.tx(), limits.place);
}

enum class Outcome { wrong, unverified, right };

struct Checked {
    Outcome outcome = Outcome::wrong;
    KnownPasswords known;
    std::optional<std::string> renewed;  ///< when the hash was made at another cost
};

/// Whoever is let in costs one hash, and whoever is not two, whatever there is under the address.
Checked check(const Passwords& passwords, const KnownPasswords& known, const std::string& given) {
    Checked out{.known = known};
    if (passwords.matches(known.hash.value_or(passwords.decoy()), given) && known.hash) {
        out.outcome = Outcome::right;
        if (passwords.outdated(*known.hash)) out.renewed = passwords.hash(given);
        return out;
    }
    const auto& unverified = known.unverified;
    if (passwords.matches(unverified.value_or(passwords.decoy()), given) && unverified)
        out.outcome = Outcome::unverified;
    return out;
}

Failure wrong_pair() {
    return Failure(Fault::unauthorized, "The address or the password is not right.");
}

AuthSessionResponse log_in_now(Call& call, const LoginRequest& in) {
    const auto checked = call.use<HashPool>().result_of<Checked>(call, [&] {
        return [&passwords = call.use<Passwords>(), known = admit(call, in), given = in.password] {
            return check(passwords, known, given);
        };
    });
    if (checked.outcome == Outcome::wrong) throw wrong_pair();
    if (checked.outcome == Outcome::unverified)
        throw Failure(
            Fault::unverified, "Confirm your address first: follow the link in the mail we sent."
        );
    const std::string key = email_key(in.email);
    present(call.tx(), key);
    if (checked.renewed) {  // whoever gave the password is its owner
        act_for_person(call.tx(), *checked.known.user_id);
        call.tx().queue(renew_hash, checked.known.user_id, checked.known.hash, *checked.renewed);
    }
    auto session = begin_session(
        call, {.method = AuthMethod::password, .password_version = checked.known.version}
    );
    if (!session) throw wrong_pair();  // another was set while we looked
    refund_attempt(call, in.email);
    return *std::move(session);
}

const Operation log_in{
    .name = "log_in",
    .route = "POST /v1/auth/login",
    .summary = "Sign in with an address and its password.",
    .description =
        "Begins a browser session: the cookie `svc_session`, and a token to be sent as "
        "X-CSRF-Token with every write. A wrong pair is 401, a right one before the address is "
        "confirmed 403 `email_not_verified`, of an account that was disabled 403, "
        "reason `account_disabled`; after too many wrong ones 429.",
    .access = Access::anyone,
    .refuses = {401},
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

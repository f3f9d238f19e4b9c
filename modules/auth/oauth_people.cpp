// From what a provider says to an account of ours.
//
// The pair of issuer and subject is who somebody is; it is looked up first. Only a pair that
// nobody has seen is held against addresses, and then the provider has to say that it verified the
// address. An account with a password is joined only by who is signed in to it in this very
// browser, and one that already has another subject of this issuer is not joined at all: the
// address may have been given to somebody else over there.
//
// Of two who join at once by one address, one person in two tabs perhaps, the second waits for the
// first, looks for the pair again, and only where that is still nobody's at the address. Whoever
// else makes an account or a pair meanwhile is met by a unique key: then all begins anew.

#include "modules/auth/oauth_people.hpp"
#include "modules/orgs/api/directory_writes.hpp"

#include "modules/auth/admission.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/sessions.hpp"

namespace svc::auth {

namespace {

constexpr Sql find_signed_in{"auth.oauth_signed_in", R"(
    SELECT user_id AS id FROM sessions
    WHERE id = $1 AND revoked_at IS NULL AND expires_at > now())"};

constexpr Sql act_for_owner{"auth.oauth_owner", R"(
    SELECT act_for_identity($1, $2))"};

constexpr Sql own_address{"auth.oauth_own_address", R"(
    SELECT u.email_key FROM users u WHERE u.id = svc_user())"};

constexpr Sql note_use{"auth.oauth_note_use", R"(
    UPDATE identities SET last_used_at = now(), email = coalesce($3, email)
    WHERE issuer = $1 AND subject = $2)"};

constexpr Sql act_for_address{"auth.oauth_act_for_address", R"(
    SELECT act_for_address())"};

// Statements of their own: what comes after them sees what was committed while they waited.
constexpr Sql lock_address{"auth.oauth_lock_address", R"(
    SELECT pg_advisory_xact_lock(hashtextextended('auth.oauth ' || svc_credential(), 0)))"};

constexpr Sql lock_account{"auth.oauth_lock_account", R"(
    SELECT u.id FROM users u WHERE u.email_key = svc_credential() FOR UPDATE)"};

// Only of the one who is acted for: of anybody else no password and no identity can be seen.
constexpr Sql find_account{"auth.oauth_account", R"(
    SELECT u.id, u.email_verified,
        EXISTS (SELECT FROM passwords p WHERE p.user_id = u.id) AS has_password,
        EXISTS (SELECT FROM identities i WHERE i.user_id = u.id AND i.issuer = $1) AS has_identity
    FROM users u
    WHERE u.email_key = svc_credential() AND u.id = svc_user())"};

// Sign-ups with the address, by whomever, come to nothing now that its owner is here.
constexpr Sql forget_sign_ups{"auth.oauth_forget_sign_ups", R"(
    DELETE FROM sign_ups WHERE email_key = svc_credential())"};

constexpr Sql insert_identity{"auth.oauth_insert_identity", R"(
    INSERT INTO identities (issuer, subject, user_id, email) VALUES ($1, $2, $3, $4))"};

struct PersonId {
    Uuid id;
};
SVC_RECORD(PersonId, (id));

struct Address {
    std::string email_key;
};
SVC_RECORD(Address, (email_key));

struct Account {
    Uuid id;
    bool email_verified = false, has_password = false, has_identity = false;
};
SVC_RECORD(Account, (id), (email_verified), (has_password), (has_identity));

/// A name as sign-up would take it; nothing when there is none in it.
std::optional<std::string> fit_name(const std::optional<std::string>& said) {
    constexpr int most_characters = 120;
    std::string name;
    int characters = 0;
    for (const char each : said.value_or("")) {
        const auto byte = static_cast<unsigned char>(each);
        const bool begins = (byte & 0xC0) != 0x80;
        if (begins && ++characters > most_characters) break;
        name += byte < 0x20 || byte == 0x7F ? ' ' : each;
    }
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name.empty()) return std::nullopt;
    return name;
}

bool may_join(const Account& account, const std::optional<PersonId>& signed_in) {
    if (!account.email_verified) return true;  // an admin added the address; nobody has it yet
    if (signed_in && signed_in->id == account.id) return true;
    return !account.has_password && !account.has_identity;
}

/// Whose identity this is already; acts for that person from then on.
std::optional<Address> owner_of(Tx& tx, const Identity& identity) {
    present(tx, identity.issuer + ' ' + identity.subject);
    tx.queue(act_for_owner, identity.issuer, identity.subject);
    return tx.one<Address>(own_address);
}

void come_in_as(Tx& tx, const Identity& identity, const Address& owner) {
    tx.queue(note_use, identity.issuer, identity.subject, identity.email);
    present(tx, owner.email_key);
}

/// The account whose address this is, or a new one, from now on also this identity's. Leaves the
/// address as the presented credential.
void join_account(Call& call, const Identity& identity, const std::optional<PersonId>& signed_in) {
    if (!identity.email || !identity.email_verified)
        throw Failure(Fault::restricted, "The provider has not verified the address.")
            .with_code("email_unverified");
    Tx& tx = call.tx();
    const std::string key = email_key(*identity.email);
    present(tx, key);
    tx.queue(lock_address);
    if (const auto known = owner_of(tx, identity)) return come_in_as(tx, identity, *known);
    present(tx, key);
    tx.queue(act_for_address);
    tx.queue(lock_account);
    const auto admitted = check_admission(call, *identity.email);
    const auto account = tx.one<Account>(find_account, identity.issuer);
    if (account && !may_join(*account, signed_in))
        throw Failure(Fault::conflict, "Sign in to the account of this address first, then again.")
            .with_code("account_conflict");
    if (!account && !admitted()) throw sign_up_closed();
    const Uuid id = account ? account->id : new_uuid();
    const auto name = fit_name(identity.name);
    if (account) orgs::confirm_person(tx, id, name, orgs::OldName::kept);
    else orgs::add_person(tx, id, *identity.email, key, name);
    tx.queue(forget_sign_ups);
    act_for_person(tx, id);
    auto joined = tx.queue(insert_identity, identity.issuer, identity.subject, id, identity.email);
    try {
        joined.affected();  // now, while it is known what it would mean
    } catch (const ConstraintError& taken) {
        if (taken.kind() != ConstraintError::Kind::unique) throw;
        throw RetryTransaction("the identity or its address has just been taken");
    }
}

}  // namespace

void sign_in_by(Call& call, const Identity& identity) {
    Tx& tx = call.tx();
    std::optional<DeferredRows<PersonId>> signed_in;
    if (const auto session = session_in(call.kernel(), *call.request())) {
        present(tx, session->str());
        signed_in = tx.later<PersonId>(find_signed_in, *session);
    }
    if (const auto known = owner_of(tx, identity)) come_in_as(tx, identity, *known);
    else join_account(call, identity, signed_in ? signed_in->one() : std::nullopt);
    if (!begin_session(call, {.method = AuthMethod::google}))
        throw Failure(Fault::conflict, "There is no verified account behind this identity.")
            .with_code("account_conflict");
}

}  // namespace svc::auth

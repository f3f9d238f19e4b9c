#include "modules/orgs/address_keys.hpp"

#include <Poco/Logger.h>

namespace svc::orgs {

namespace {

// Whoever comes second waits, and finds it done.
constexpr Sql claim_work{"orgs.claim_address_keys", R"(
    UPDATE address_keys SET renewed_at = now() WHERE renewed_at IS NULL)"};

// ASCII addresses have the key that they had.
constexpr Sql people{"orgs.people_to_key", R"(
    SELECT id, email, email_key FROM users
    WHERE email ~ '[^\x01-\x7f]'
    ORDER BY email_verified DESC, created_time, id)"};

constexpr Sql rekey_person{"orgs.rekey_person", R"(
    UPDATE users SET email = $2, email_key = $3
    WHERE id = $1 AND NOT EXISTS (SELECT FROM users o WHERE o.email_key = $3 AND o.id <> $1))"};

// The newest first: of two that wait for one address it stays.
constexpr Sql invited{"orgs.invitations_to_key", R"(
    SELECT id, email, email_key FROM invitations
    WHERE email ~ '[^\x01-\x7f]' AND org_id IS NOT NULL
    ORDER BY created_time DESC, id)"};

constexpr Sql end_rival{"orgs.end_rival_invitation", R"(
    UPDATE invitations i
    SET status = 'expired', last_edited_time = now(), version = version + 1
    WHERE i.id = $1 AND i.status = 'pending' AND i.org_id IS NOT NULL AND EXISTS (
        SELECT FROM invitations o
        WHERE o.org_id = i.org_id AND o.email_key = $2 AND o.status = 'pending' AND o.id <> i.id))"};

constexpr Sql rekey_invitation{"orgs.rekey_invitation", R"(
    UPDATE invitations SET email = $2, email_key = $3 WHERE id = $1 AND org_id IS NOT NULL)"};

struct Kept {
    Uuid id;
    std::string email, email_key;
};
SVC_RECORD(Kept, (id, ""), (email, ""), (email_key, ""));

/// Calls `work(row, email)` for those whose address or key is to be another.
template <class Work>
void each_changed(const std::vector<Kept>& rows, Work work) {
    for (const Kept& row : rows) {
        const auto email = Email::parse(row.email);
        if (!email) continue;  // no mail has ever reached it
        if (email->str() != row.email || email_key(*email) != row.email_key) work(row, *email);
    }
}

}  // namespace

void renew_address_keys(Kernel& kernel) {
    kernel.transact(Tx::Mode::write, [](Tx& tx) {
        tx.act_for_all_orgs();
        if (tx.run(claim_work) == 0) return;
        each_changed(tx.all<Kept>(people), [&](const Kept& row, const Email& email) {
            if (tx.run(rekey_person, row.id, email, email_key(email)) > 0) return;
            Poco::Logger::get("orgs").warning(
                "the account " + row.id.str() +
                " has the address of another one; nobody can log in to it by that address"
            );
        });
        each_changed(tx.all<Kept>(invited), [&](const Kept& row, const Email& email) {
            tx.run(end_rival, row.id, email_key(email));
            tx.run(rekey_invitation, row.id, email, email_key(email));
        });
    });
}

}  // namespace svc::orgs

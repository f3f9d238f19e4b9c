#include "modules/orgs/address_keys.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <set>

namespace svc::orgs {

namespace {

// Whoever comes second waits, and finds it done.
constexpr Sql claim_work{"orgs.claim_address_keys", R"(
    UPDATE address_keys SET renewed_at = now() WHERE renewed_at IS NULL)"};

// ASCII addresses have the key that they had, which may be the new one of another.
constexpr Sql people{"orgs.people_to_key", R"(
    SELECT id, NULL::uuid AS org_id, email, email_key, email_verified AS is_live, created_time
    FROM users
    WHERE email ~ '[^\x01-\x7f]')"};

constexpr Sql people_with_keys{"orgs.people_with_keys", R"(
    SELECT id, NULL::uuid AS org_id, email, email_key, email_verified AS is_live, created_time
    FROM users
    WHERE email !~ '[^\x01-\x7f]' AND email_key = ANY ($1))"};

constexpr Sql rekey_person{"orgs.rekey_person", R"(
    UPDATE users SET email = $2, email_key = $3 WHERE id = $1)"};

constexpr Sql invited{"orgs.invitations_to_key", R"(
    SELECT id, org_id, email, email_key, status = 'pending' AS is_live, created_time
    FROM invitations
    WHERE email ~ '[^\x01-\x7f]' AND org_id IS NOT NULL)"};

constexpr Sql invited_with_keys{"orgs.invitations_with_keys", R"(
    SELECT id, org_id, email, email_key, true AS is_live, created_time
    FROM invitations
    WHERE email !~ '[^\x01-\x7f]' AND email_key = ANY ($1) AND status = 'pending'
      AND org_id IS NOT NULL)"};

constexpr Sql end_conflicting{"orgs.end_conflicting_invitation", R"(
    UPDATE invitations
    SET status = 'expired', last_edited_time = now(), version = version + 1
    WHERE id = $1 AND org_id = $2)"};

constexpr Sql rekey_invitation{"orgs.rekey_invitation", R"(
    UPDATE invitations SET email = $2, email_key = $3 WHERE id = $1 AND org_id = $4)"};

struct Kept {
    Uuid id;
    std::optional<Uuid> org_id;
    std::string email, email_key;
    bool is_live = false;  ///< of a person: confirmed; of an invitation: pending
    Timestamp created_time;
};
SVC_RECORD(Kept, (id), (org_id), (email), (email_key), (is_live), (created_time));

struct Row {
    Kept before;
    Email email;
    std::string key;
    bool changes() const { return email.str() != before.email || key != before.email_key; }
};

/// The rows that `beyond_ascii` finds, and those of ASCII that have a key which one of them comes
/// to. Without those that no mail has ever reached.
std::vector<Row> rows_of(Tx& tx, const Sql& beyond_ascii, const Sql& with_keys) {
    std::vector<Row> rows;
    const auto add = [&](const std::vector<Kept>& found) {
        for (const Kept& each : found)
            if (const auto email = Email::parse(each.email))
                rows.push_back({each, *email, email_key(*email)});
    };
    add(tx.all<Kept>(beyond_ascii));
    std::vector<std::string> keys;
    for (const Row& each : rows) keys.push_back(each.key);
    if (!keys.empty()) add(tx.all<Kept>(with_keys, keys));
    return rows;
}

/// A confirmed one before one that is not, then the oldest, is first. The others get a key that no
/// address comes to, before anybody gets theirs.
void rekey_people(Tx& tx) {
    auto rows = rows_of(tx, people, people_with_keys);
    std::ranges::sort(rows, {}, [](const Row& row) {
        return std::tuple(!row.before.is_live, row.before.created_time, row.before.id);
    });
    std::set<std::string> taken;
    std::vector<Row> first;
    for (const Row& row : rows) {
        if (taken.insert(row.key).second) {
            first.push_back(row);
            continue;
        }
        tx.run(rekey_person, row.before.id, row.email, row.before.id.str());
        Poco::Logger::get("orgs").warning(
            "the account " + row.before.id.str() +
            " has the address of another one; nobody can log in to it by that address"
        );
    }
    for (const Row& row : first)
        if (row.changes()) tx.run(rekey_person, row.before.id, row.email, row.key);
}

/// Of those of one workspace that wait for one address the newest stays.
void rekey_invitations(Tx& tx) {
    auto rows = rows_of(tx, invited, invited_with_keys);
    std::ranges::sort(rows, std::ranges::greater(), [](const Row& row) {
        return std::tuple(row.before.created_time, row.before.id);
    });
    std::set<std::pair<Uuid, std::string>> taken;
    for (const Row& row : rows)
        if (row.before.is_live && !taken.emplace(*row.before.org_id, row.key).second)
            tx.run(end_conflicting, row.before.id, row.before.org_id);
    for (const Row& row : rows)
        if (row.changes())
            tx.run(rekey_invitation, row.before.id, row.email, row.key, row.before.org_id);
}

}  // namespace

void renew_address_keys(Kernel& kernel) {
    kernel.transact(Tx::Mode::write, [](Tx& tx) {
        tx.set_scope_to_all_orgs();
        if (tx.run(claim_work) == 0) return;
        rekey_people(tx);
        rekey_invitations(tx);
    });
}

}  // namespace svc::orgs

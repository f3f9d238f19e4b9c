#include "modules/orgs/api/directory_writes.hpp"

namespace svc::orgs {

namespace {

constexpr Sql insert_principal{"orgs.insert_principal", R"(
    INSERT INTO principals (org_id, id, type, name, avatar_url) VALUES ($1, $2, $3, $4, $5))"};

constexpr Sql upsert_principal{"orgs.name_principal", R"(
    INSERT INTO principals AS p (org_id, id, type, name, avatar_url) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (org_id, id) DO UPDATE
    SET name = $4, avatar_url = $5, last_edited_time = now(), version = p.version + 1
    WHERE p.org_id = $1
        AND (p.name IS DISTINCT FROM $4 OR p.avatar_url IS DISTINCT FROM $5))"};

constexpr Sql change_principal{"orgs.update_principal", R"(
    UPDATE principals
    SET name = $3, avatar_url = $4, last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2
        AND (name IS DISTINCT FROM $3 OR avatar_url IS DISTINCT FROM $4))"};

constexpr Sql end_principal{"orgs.retire_principal", R"(
    UPDATE principals SET gone_at = now() WHERE org_id = $1 AND id = $2)"};

constexpr Sql insert_person{"orgs.insert_person", R"(
    INSERT INTO users (id, email, email_key, email_verified, name)
    VALUES ($1, $2, $3, true, $4))"};

constexpr Sql verify_person{"orgs.confirm_person", R"(
    UPDATE users
    SET email_verified = true, last_edited_time = now(), version = version + 1,
        name = CASE WHEN $3::boolean THEN coalesce($2, name) ELSE coalesce(name, $2) END
    WHERE id = $1 AND ($3 OR NOT email_verified))"};

constexpr Sql disable_person{"orgs.set_disabled", R"(
    UPDATE users
    SET disabled_at = CASE WHEN $2 THEN now() END, last_edited_time = now(), version = version + 1
    WHERE id = $1)"};

constexpr Sql write_preferences{"orgs.set_preferences", R"(
    UPDATE users SET preferences = $2, last_edited_time = now(), version = version + 1
    WHERE id = $1)"};

constexpr Sql write_look{"orgs.set_look", R"(
    UPDATE users
    SET name = $2, avatar_url = $3, avatar_file_id = $4, job_title = $5, bio = $6, pronouns = $7,
        location = $8, links = $9::jsonb, last_edited_time = now(), version = version + 1
    WHERE id = $1)"};

constexpr Sql members_seen{"orgs.members_seen", R"(
    UPDATE memberships m SET last_active_at = now()
    FROM unnest($1::uuid[], $2::uuid[]) AS seen (org_id, user_id)
    WHERE m.org_id = seen.org_id AND m.user_id = seen.user_id)"};

}  // namespace

void add_principal(
    Tx& tx, const Uuid& org, const Uuid& id, PrincipalType type, const PrincipalLook& look
) {
    tx.queue(insert_principal, org, id, type, look.name, look.avatar_url);
}

void name_principal(
    Tx& tx, const Uuid& org, const Uuid& id, PrincipalType type, const PrincipalLook& look
) {
    tx.queue(upsert_principal, org, id, type, look.name, look.avatar_url);
}

void update_principal(Tx& tx, const Uuid& org, const Uuid& id, const PrincipalLook& look) {
    tx.queue(change_principal, org, id, look.name, look.avatar_url);
}

void retire_principal(Tx& tx, const Uuid& org, const Uuid& id) { tx.queue(end_principal, org, id); }

void add_person(
    Tx& tx,
    const Uuid& id,
    const Email& email,
    const std::string& email_key,
    const std::optional<std::string>& name
) {
    tx.queue(insert_person, id, email, email_key, name);
}

void confirm_person(
    Tx& tx, const Uuid& id, const std::optional<std::string>& name, OldName old_name
) {
    tx.queue(verify_person, id, name, old_name == OldName::replaced);
}

void set_disabled(Tx& tx, const Uuid& id, bool disabled) { tx.queue(disable_person, id, disabled); }

void set_preferences(Tx& tx, const Uuid& id, const std::string& json) {
    tx.queue(write_preferences, id, json);
}

void set_look(Tx& tx, const Uuid& id, const PersonLook& look) {
    tx.queue(
        write_look,
        id,
        look.shown.name,
        look.shown.avatar_url,
        look.avatar_file_id,
        look.job_title,
        look.bio,
        look.pronouns,
        look.location,
        look.links
    );
}

void note_active(Tx& tx, const std::vector<Member>& members) {
    std::vector<Uuid> orgs, users;
    for (const Member& each : members) {
        orgs.push_back(each.org_id);
        users.push_back(each.user_id);
    }
    if (!orgs.empty()) tx.queue(members_seen, orgs, users);
}

}  // namespace svc::orgs

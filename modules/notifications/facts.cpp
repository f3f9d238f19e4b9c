#include "modules/notifications/facts.hpp"

#include "modules/notifications/long_texts.hpp"

#include <boost/json/parse.hpp>

namespace svc::notifications {

namespace {

// However many watch a card, at most so many are told.
constexpr Sql find_card{"notifications.find_card", R"(
    SELECT c.board_id, b.key || '-' || c.number AS key, c.title, c.created_by AS author,
        coalesce((SELECT json_agg(w.principal_id) FROM (
            SELECT x.principal_id FROM card_watchers x
            WHERE x.org_id = $1 AND x.card_id = $2
            ORDER BY x.principal_id
            LIMIT 5000) w), '[]') AS watchers,
        coalesce((SELECT json_agg(a.principal_id) FROM card_assignees a
            WHERE a.org_id = $1 AND a.card_id = $2), '[]') AS assignees
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    WHERE c.org_id = $1 AND c.id = $2 AND NOT c.in_trash)"};

constexpr Sql find_org{"notifications.find_org", R"(
    SELECT o.name FROM orgs o WHERE o.id = $1 AND o.deleted_at IS NULL)"};

constexpr Sql find_name{"notifications.find_event_name", R"(
    SELECT coalesce(l.object_name, '') AS name
    FROM event_chain c
    CROSS JOIN LATERAL (
        SELECT e.object_name FROM event_log e WHERE e.id = c.log_id AND e.org_id = $1 OFFSET 0
    ) l
    WHERE c.position = $2 AND c.org_id = $1)"};

constexpr Sql find_agent{"notifications.find_agent", R"(
    SELECT p.name, a.owner_user_id
    FROM agents a
    LEFT JOIN principals p ON p.org_id = $1 AND p.id = a.id
    WHERE a.org_id = $1 AND a.id = $2)"};

constexpr Sql find_member{"notifications.find_member", R"(
    SELECT m.user_id AS id, m.role FROM memberships m WHERE m.org_id = $1 AND m.id = $2)"};

constexpr Sql find_invited{"notifications.find_invited", R"(
    SELECT u.id, '' AS role FROM users u
    WHERE u.email_key = $3 AND u.email_verified AND u.disabled_at IS NULL
        AND (SELECT i.status FROM invitations i WHERE i.org_id = $1 AND i.id = $2) = 'pending')"};

// What happened may be told later than it was undone.
constexpr Sql find_comment{"notifications.find_comment", R"(
    SELECT c.id, '' AS role FROM comments c
    WHERE c.org_id = $1 AND c.id = $2 AND NOT c.in_trash)"};

// A block goes with the one above it.
constexpr Sql find_gone_blocks{"notifications.find_gone_blocks", R"(
    SELECT k.id, '' AS role FROM unnest($2::uuid[]) AS k (id)
    WHERE coalesce((SELECT b.trashed_by IS NOT NULL FROM blocks b
        WHERE b.org_id = $1 AND b.id = k.id), true))"};

constexpr Sql find_admins{"notifications.find_admins", R"(
    SELECT m.user_id AS id, m.role FROM memberships m
    WHERE m.org_id = $1 AND m.role IN ('owner', 'admin')
    ORDER BY m.joined_at
    LIMIT 200)"};

struct Named {
    std::string name;
};
SVC_RECORD(Named, (name));

struct Person {
    Uuid id;
    std::string role;
};
SVC_RECORD(Person, (id), (role));

bool is_for_admins(std::string_view kind) {
    for (const char* each : {"automation.*", "webhook.*", "agent.*", "org.*"})
        if (kind_matches(each, kind)) return true;
    return false;
}

void read_mentions(Facts& facts) {
    facts.mentions = mentions_in(facts.changes);
    if (facts.mentions.empty()) return;
    for (const auto& [person, before] : mentions_in(facts.previous)) facts.mentions.erase(person);
}

const Uuid& block_of(const Mention& mention, const StoredEvent& event) {
    return mention.block ? *mention.block : event.object_id;
}

std::vector<Uuid> mentioning_blocks(const Facts& facts) {
    std::set<Uuid> out;
    for (const auto& [person, mentions] : facts.mentions)
        for (const Mention& each : mentions) out.insert(block_of(each, facts.event));
    return {out.begin(), out.end()};
}

void forget_mentions_in(const std::set<Uuid>& gone, Facts& facts) {
    for (auto& [person, mentions] : facts.mentions)
        std::erase_if(mentions, [&](const Mention& each) {
            return gone.contains(block_of(each, facts.event));
        });
    std::erase_if(facts.mentions, [](const auto& each) { return each.second.empty(); });
}

}  // namespace

std::string text_in(const json::object& in, std::string_view name) {
    const auto* found = in.if_contains(name);
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

json::object object_in(const json::object& in, std::string_view name) {
    const auto* found = in.if_contains(name);
    return found && found->is_object() ? found->get_object() : json::object();
}

Facts facts_of(Tx& tx, StoredEvent event) {
    Facts facts;
    facts.event = std::move(event);
    const StoredEvent& told = facts.event;
    facts.actor = told.actor.parsed();
    facts.data = object_in(json::parse(told.envelope).as_object(), "data");
    facts.changes = object_in(facts.data, "changes");
    facts.previous = object_in(facts.data, "previous");
    restore_long_texts(tx, facts);
    auto org = tx.later<Named>(find_org, told.org_id);
    auto card = tx.later<CardFacts>(find_card, told.org_id, told.card_id);
    auto agent = tx.later<AgentFacts>(find_agent, told.org_id, told.object_id);
    auto member = tx.later<Person>(find_member, told.org_id, told.object_id);
    std::optional<DeferredRows<Named>> name;
    std::optional<DeferredRows<Person>> invited, admins, comment, gone_blocks;
    if (const auto email = Email::parse(facts.text("email")); told.object == "invitation" && email)
        invited = tx.later<Person>(find_invited, told.org_id, told.object_id, email_key(*email));
    if (told.object == "comment" || told.object == "block") read_mentions(facts);
    if (told.object == "comment")
        comment = tx.later<Person>(find_comment, told.org_id, told.object_id);
    if (told.object == "block")
        if (const auto blocks = mentioning_blocks(facts); !blocks.empty())
            gone_blocks = tx.later<Person>(find_gone_blocks, told.org_id, blocks);
    if (is_for_admins(told.kind)) {
        name = tx.later<Named>(find_name, told.org_id, told.position);
        admins = tx.later<Person>(find_admins, told.org_id);
    }
    if (const auto found = org.one()) facts.org_name = found->name;
    if (name)
        if (const auto found = name->one(); found && !found->name.empty()) facts.name = found->name;
    facts.card = card.one();
    facts.agent = agent.one();
    if (const auto found = member.one()) facts.member = found->id;
    if (invited)
        if (const auto found = invited->one()) facts.invited = found->id;
    if (comment) facts.is_gone = !comment->one();
    if (gone_blocks) {
        std::set<Uuid> gone;
        for (const Person& each : gone_blocks->all()) gone.insert(each.id);
        forget_mentions_in(gone, facts);
    }
    if (admins)
        for (const Person& each : admins->all()) {
            facts.admins.push_back(each.id);
            if (each.role == "owner") facts.owners.push_back(each.id);
        }
    return facts;
}

}  // namespace svc::notifications

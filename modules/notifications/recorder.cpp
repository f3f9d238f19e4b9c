#include "modules/notifications/recorder.hpp"

#include "modules/notifications/work.hpp"

#include <algorithm>
#include <map>

namespace svc::notifications {

namespace {

/// What has to be known before an event is written down: most of what happens concerns nobody.
enum class Concerns {
    somebody,   ///< always
    followers,  ///< those who watch the card or have it, or were told of it
    assignees,  ///< those who have the card
    mentioned,  ///< those whom its text names
};

const std::map<std::string_view, Concerns>& concerns() {
    static const std::map<std::string_view, Concerns> all{
        {"comment.created", Concerns::somebody},
        {"comment.updated", Concerns::mentioned},
        {"comment.deleted", Concerns::followers},
        {"block.created", Concerns::mentioned},
        {"block.updated", Concerns::mentioned},
        {"block.deleted", Concerns::followers},
        {"card.created", Concerns::assignees},
        {"card.assigned", Concerns::somebody},
        {"card.moved", Concerns::followers},
        {"card.deleted", Concerns::followers},
        {"card.due", Concerns::somebody},
        {"card.exhausted", Concerns::somebody},
        {"lease.failed", Concerns::followers},
        {"lease.expired", Concerns::followers},
        {"member.added", Concerns::somebody},
        {"member.role_changed", Concerns::somebody},
        {"member.removed", Concerns::somebody},
        {"invitation.created", Concerns::somebody},
        {"invitation.accepted", Concerns::somebody},
        {"invitation.declined", Concerns::somebody},
        {"invitation.revoked", Concerns::somebody},
        {"agent.disabled", Concerns::somebody},
        {"agent.deleted", Concerns::somebody},
        {"agent.budget_exceeded", Concerns::somebody},
        {"automation.run_failed", Concerns::somebody},
        {"automation.disabled", Concerns::somebody},
        {"webhook.disabled", Concerns::somebody},
        {"org.billing_changed", Concerns::somebody},
    };
    return all;
}

// Each by key, whatever is believed of the tables.
constexpr Sql followed{"notifications.followed", R"(
    SELECT q.number
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS q (org_id, card_id, number)
    WHERE coalesce(
        (SELECT true FROM card_assignees a
         WHERE a.org_id = q.org_id AND a.card_id = q.card_id LIMIT 1),
        (SELECT true FROM card_watchers w
         WHERE w.org_id = q.org_id AND w.card_id = q.card_id LIMIT 1),
        (SELECT true FROM notifications n
         WHERE n.org_id = q.org_id AND n.card_id = q.card_id LIMIT 1),
        false))"};

constexpr Sql assigned{"notifications.assigned", R"(
    SELECT q.number
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS q (org_id, card_id, number)
    WHERE coalesce(
        (SELECT true FROM card_assignees a
         WHERE a.org_id = q.org_id AND a.card_id = q.card_id LIMIT 1),
        false))"};

// In the database, so that what mentions nobody is not sent here. What is too long for its event
// may mention somebody.
constexpr Sql mentioning{"notifications.mentioning", R"(
    SELECT q.number
    FROM unnest($1::bigint[]) WITH ORDINALITY AS q (position, number)
    CROSS JOIN LATERAL (
        SELECT c.org_id, c.log_id FROM event_chain c WHERE c.position = q.position OFFSET 0
    ) c
    CROSS JOIN LATERAL (
        SELECT e.changes, e.truncated FROM event_log e
        WHERE e.id = c.log_id AND e.org_id = c.org_id
        OFFSET 0
    ) l
    WHERE l.truncated IS NOT NULL OR strpos(l.changes, '"mention"') > 0)"};

struct Number {
    std::int64_t number = 0;
};
SVC_RECORD(Number, (number));

/// Those events of the batch that a question is about.
struct Asked {
    std::vector<const StoredEvent*> events;
    std::vector<Uuid> orgs, cards;
    std::vector<std::string> positions;
    std::optional<DeferredRows<Number>> answers;

    void add(const StoredEvent& event) {
        events.push_back(&event);
        orgs.push_back(event.org_id);
        cards.push_back(event.card_id.value_or(Uuid{}));
        positions.push_back(std::to_string(event.position));
    }
    void take(std::vector<const StoredEvent*>& into) {
        if (!answers) return;
        for (const Number& each : answers->all())
            into.push_back(events[static_cast<std::size_t>(each.number) - 1]);
    }
};

void record(Kernel& kernel, Tx& tx, std::span<const StoredEvent> events) {
    std::vector<const StoredEvent*> some;
    std::map<Concerns, Asked> asked;
    for (const StoredEvent& each : events) {
        const Concerns whom = concerns().at(each.kind);
        if (whom == Concerns::somebody) some.push_back(&each);
        else asked[whom].add(each);
    }
    for (auto& [whom, of] : asked)
        if (whom == Concerns::mentioned) of.answers = tx.later<Number>(mentioning, of.positions);
        else
            of.answers = tx.later<Number>(
                whom == Concerns::followers ? followed : assigned, of.orgs, of.cards
            );
    for (auto& [whom, of] : asked) of.take(some);
    if (some.empty()) return;
    std::ranges::sort(some, {}, &StoredEvent::position);
    enqueue_events(kernel, tx, some);
}

}  // namespace

Consumer recorder(Kernel& kernel) {
    return {
        .name = "notifications",
        .subscribers =
            [](const StoredEvent& event) {
                std::vector<std::string> some;
                if (concerns().contains(event.kind)) some.emplace_back();
                return some;
            },
        .record =
            [&kernel](Tx& tx, std::span<const StoredEvent> events) { record(kernel, tx, events); },
        .gather = std::chrono::milliseconds(100),
    };
}

}  // namespace svc::notifications

#include "modules/boards/card/people.hpp"

namespace svc::boards {

namespace {

// Whoever has left keeps a name but gets no more work.
constexpr Sql find_people{"boards.find_people", R"(
    SELECT p.id, p.type AS principal_type, p.name
    FROM unnest($2::uuid[]) WITH ORDINALITY w (id, n)
    LEFT JOIN principals p
        ON p.org_id = $1 AND p.id = w.id
        AND (EXISTS (SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = w.id)
            OR EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = w.id))
    ORDER BY w.n)"};

constexpr Sql drop_assignees{"boards.drop_assignees", R"(
    DELETE FROM card_assignees
    WHERE org_id = $1 AND card_id = $2 AND NOT principal_id = ANY ($3::uuid[]))"};

constexpr Sql add_assignees{"boards.add_assignees", R"(
    INSERT INTO card_assignees (org_id, principal_id, card_id)
    SELECT $1, p.id, $2 FROM unnest($3::uuid[]) p (id)
    ON CONFLICT DO NOTHING)"};

}  // namespace

PeopleResolver::PeopleResolver(Call& call, const std::optional<std::vector<Uuid>>& wanted)
    : call_(call) {
    if (!wanted) return;
    wanted_ = *wanted;
    found_ = call.tx().later<PersonFound>(find_people, call.org(), wanted_);
}

std::vector<PrincipalRef> PeopleResolver::refs(const std::vector<PrincipalRef>& present) {
    std::vector<PrincipalRef> refs;
    const auto rows = found_->all();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [id, type, name] = rows[i];
        const auto same = std::ranges::find(present, wanted_[i], &PrincipalRef::id);
        if (!id && same == present.end())
            throw wrong_item(
                call_, "assignees", i, "there is no such person or agent in the workspace"
            );
        refs = joined(std::move(refs), {id ? PrincipalRef{{}, *id, *type, name} : *same});
    }
    return refs;
}

std::vector<PrincipalRef> PeopleResolver::those_still_here() {
    std::vector<PrincipalRef> refs;
    for (const PersonFound& row : found_->all())
        if (row.id) refs.push_back({{}, *row.id, *row.principal_type, row.name});
    return refs;
}

void index_assignees(
    Tx& tx, const Uuid& org, const Uuid& card, const std::vector<PrincipalRef>& assignees
) {
    std::vector<Uuid> ids;
    for (const PrincipalRef& each : assignees) ids.push_back(each.id);
    tx.queue(drop_assignees, org, card, ids);
    if (!ids.empty()) tx.queue(add_assignees, org, card, ids);
}

}  // namespace svc::boards

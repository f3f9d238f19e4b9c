#include "modules/live/rights.hpp"

namespace svc::live {

namespace {

// Each by key, whatever is believed of the tables.
constexpr Sql judge{
    "live.judge_roles",
    R"(
    SELECT q.number, )" SVC_BOARD_ROLE_OF(
        "q.principal", "q.kind", "q.role", "b.visibility", "b.created_by"
    ) R"( AS role
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[])
        WITH ORDINALITY AS q (principal, kind, role, board, number)
    CROSS JOIN LATERAL (
        SELECT o.id, o.visibility, o.created_by FROM boards o
        WHERE o.org_id = $1 AND o.id = q.board
        OFFSET 0
    ) b
    )" SVC_BOARD_GRANT_OF_BY_KEY("q.principal", "b.id") R"(
    ORDER BY q.number)"
};

struct Judged {
    std::int64_t number = 0;
    std::optional<boards::BoardRole> role;
};
SVC_RECORD(Judged, (number), (role));

}  // namespace

Audience audience_of(const Kernel& kernel, std::string_view kind) {
    const EventKind* known = kernel.find_event_kind(kind);
    return known ? known->audience() : Audience::admins;
}

bool may_see(
    Audience audience,
    bool happened_on_board,
    std::optional<boards::BoardRole> on_board,
    OrgRole role
) {
    const bool for_everyone = audience == Audience::everyone;
    if (!happened_on_board) return for_everyone || role >= OrgRole::admin;
    return on_board && (for_everyone || *on_board == boards::BoardRole::admin);
}

std::function<std::vector<std::optional<boards::BoardRole>>()> ask_roles(
    Tx& tx, const Uuid& org, const std::vector<RoleQuestion>& questions
) {
    const auto count = questions.size();
    std::vector<Uuid> principals, boards;
    std::vector<std::string> kinds, roles;
    for (const RoleQuestion& each : questions) {
        principals.push_back(each.caller.principal);
        kinds.emplace_back(name_of(each.caller.kind));
        roles.emplace_back(name_of(each.caller.role));
        boards.push_back(each.board);
    }
    auto found = tx.later<Judged>(judge, org, principals, kinds, roles, boards);
    return [found, count]() mutable {
        std::vector<std::optional<boards::BoardRole>> answers(count);
        for (const Judged& each : found.all())
            answers[static_cast<std::size_t>(each.number) - 1] = each.role;
        return answers;
    };
}

}  // namespace svc::live

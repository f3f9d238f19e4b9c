#pragma once

#include "modules/boards/api/board_role.hpp"
#include "modules/boards/api/kinds.hpp"
#include "svc/caller.hpp"
#include "svc/kernel.hpp"

/// Who may what on a board.
namespace svc::boards {

enum class CallerKind { person, token, agent };
BOOST_DESCRIBE_ENUM(CallerKind, person, token, agent)

/// A caller as board_role() of the migrations takes it. Statements that judge a caller bind it
/// in front of all else: $1 workspace, $2 principal, $3 kind, $4 role; and give `role`, which is
/// null for a stranger.
struct BoardCaller {
    Uuid org;
    Uuid principal;
    CallerKind kind{};
    OrgRole role{};

    static BoardCaller of(const Call& call) { return of(call.caller(), call.org()); }
    static BoardCaller of(const Caller& who, const Uuid& org) {
        const CallerKind kind = !who.is_person() ? CallerKind::agent
                                : who.token_id   ? CallerKind::token
                                                 : CallerKind::person;
        return {org, who.id, kind, who.role};
    }
    /// Somebody to whom no board of the workspace is closed: for jobs, and for the holder of a
    /// lease, who needs no other right.
    static BoardCaller of_system(const Uuid& org) {
        return {org, {}, CallerKind::person, OrgRole::owner};
    }

    template <Described Row, class... Arg>
    DeferredRows<Row> later(Tx& tx, const Sql& sql, const Arg&... arg) const {
        return tx.later<Row>(sql, org, principal, kind, role, arg...);
    }
    template <class... Arg>
    Result queue(Tx& tx, const Sql& sql, const Arg&... arg) const {
        return tx.queue(sql, org, principal, kind, role, arg...);
    }
    template <class... Arg>
    void lock(Tx& tx, const Sql& sql, const Arg&... arg) const {
        tx.lock(sql, org, principal, kind, role, arg...);
    }
};

/// What a statement that locks asks besides, in front of the board's id and a bracket: that the
/// caller, $1 to $4, may see the board, edit what is on it, or administer it. Callers without the
/// right neither block others nor wait for them; they are refused once all is locked. No EXISTS,
/// which the planner may turn round: to go from all boards to all their cards.
inline constexpr std::string_view if_role = R"( (
        SELECT true FROM boards mb
        )" SVC_BOARD_GRANT("mb.id") R"(
        WHERE mb.org_id = $1
            AND )" SVC_BOARD_ROLE("mb.visibility", "mb.created_by");
inline constexpr std::string_view any_role = R"( IS NOT NULL AND mb.id = )";
inline constexpr std::string_view role_of_editor = R"( IN ('editor', 'admin') AND mb.id = )";
inline constexpr std::string_view role_of_admin = R"( = 'admin' AND mb.id = )";
inline constexpr std::string_view if_seen = SqlText<if_role, any_role>::view;
inline constexpr std::string_view if_editor = SqlText<if_role, role_of_editor>::view;
inline constexpr std::string_view if_admin = SqlText<if_role, role_of_admin>::view;

/// Ends the request unless the caller may: strangers get 404, who may look but not act 403.
/// `thing` as in "There is no such card."
inline void require(const std::optional<BoardRole>& role, BoardRole least, std::string_view thing) {
    if (!role) not_found(thing);
    if (*role >= least) return;
    throw Failure(
        Fault::restricted,
        "This takes the role " + std::string(name_of(least)) + " on the board; yours is " +
            std::string(name_of(*role)) + "."
    );
}

/// 409 about something on a board that is archived.
inline Failure board_archived() {
    return Failure(
               Fault::conflict,
               "The board is archived, so nothing on it can be changed; restore it first."
    )
        .with("reason", "board_archived");
}
/// 409 about something on a card that was deleted.
inline Failure card_in_trash() {
    return Failure(Fault::conflict, "The card is in the trash; restore it first.")
        .with("reason", "card_in_trash");
}

}  // namespace svc::boards

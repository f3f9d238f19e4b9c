// Watching cards: who wants to hear of what happens to one.

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/card/requests.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

constexpr Sql find_watch{"boards.find_watch", R"(
    SELECT created_time FROM card_watchers
    WHERE org_id = $1 AND card_id = $2 AND principal_id = $3)"};

constexpr Sql insert_watch{"boards.insert_watch", R"(
    INSERT INTO card_watchers (org_id, card_id, principal_id)
    VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING)"};

constexpr Sql drop_watch{"boards.drop_watch", R"(
    DELETE FROM card_watchers WHERE org_id = $1 AND card_id = $2 AND principal_id = $3)"};

// Those who may see the card: whoever has left the workspace may not.
constexpr Sql add_watches{"boards.add_watches", R"(
    INSERT INTO card_watchers (org_id, card_id, principal_id)
    SELECT $1, c.id, p.id
    FROM (
        SELECT m.user_id AS id, 'person' AS kind, m.role
        FROM memberships m WHERE m.org_id = $1 AND m.user_id = ANY ($3::uuid[])
        UNION ALL
        SELECT a.id, 'agent', a.role
        FROM agents a WHERE a.org_id = $1 AND a.id = ANY ($3::uuid[])
    ) p
    JOIN cards c ON c.org_id = $1 AND c.id = $2
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    )" SVC_BOARD_GRANT_OF("p.id", "c.board_id") R"(
    WHERE )" SVC_BOARD_ROLE_OF("p.id", "p.kind", "p.role", "b.visibility", "b.created_by") R"(
        IS NOT NULL
    ON CONFLICT DO NOTHING)"};

constexpr Sql read_card_role{"boards.role_on_card", R"(
    SELECT b.id AS board_id, c.title, c.version, now() AS now,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE c.org_id = $1 AND c.id = $5)"};

struct Watched {
    std::optional<BoardRole> role;
    Uuid board_id;
    std::string title;
    std::int64_t version = 0;
    Timestamp now;
};
SVC_RECORD(Watched, (role), (board_id), (title), (version), (now));

struct Since {
    Timestamp created_time;
};
SVC_RECORD(Since, (created_time));

struct CardWatch {
    Object<"card_watch"> object;
    Uuid card_id;
    PrincipalRef watcher;
    Timestamp created_time;
};
SVC_RECORD(
    CardWatch, (object), (card_id), (watcher, "You."), (created_time, "Since when you watch it.")
);

struct WatchState {
    Object<"card_watch_state"> object;
    Uuid card_id;
    bool watching = false;
    std::optional<Timestamp> since;
};
SVC_RECORD(
    WatchState,
    (object),
    (card_id),
    (watching, "Whether you are told of what happens to the card."),
    (since, "Since when; null when you do not watch it.")
);

/// A card somebody looks at, and since when, if ever.
struct Look {
    Uuid card;
    DeferredRows<Watched> watched;
    DeferredRows<Since> since;

    Look(Call& call, const CardOnly& in)
        : card(id_of(call, in.card_id)),
          watched(BoardCaller::of(call).later<Watched>(call.tx(), read_card_role, card)),
          since(call.tx().later<Since>(find_watch, call.org(), card, call.caller().id)) {}

    Watched seen() {
        auto found = watched.one();
        if (!found) not_found("card");
        require(found->role, BoardRole::viewer, "card");
        return *std::move(found);
    }
};

Event event_of(const EventKind& kind, const Uuid& card, const Watched& seen) {
    Event event;
    event.kind = &kind;
    event.id = card;
    event.version = seen.version;
    event.name = seen.title;
    return std::move(event).on_board(seen.board_id);
}

WatchState see(Call& call, const CardOnly& in) {
    Look look(call, in);
    look.seen();
    const auto since = look.since.one();
    return {
        {},
        look.card,
        since.has_value(),
        since ? std::optional(since->created_time) : std::nullopt
    };
}

CardWatch watch(Call& call, const CardOnly& in) {
    Look look(call, in);
    const Watched seen = look.seen();
    const PrincipalRef self = ref_of(call.caller());
    if (const auto since = look.since.one()) return {{}, look.card, self, since->created_time};
    const Event event = event_of(card_watched, look.card, seen);
    call.check(event);
    call.tx().queue(insert_watch, call.org(), look.card, call.caller().id);
    call.emit(event);
    return {{}, look.card, self, seen.now};
}

void unwatch(Call& call, const CardOnly& in) {
    Look look(call, in);
    const Watched seen = look.seen();
    if (!look.since.one()) return;
    const Event event = event_of(card_unwatched, look.card, seen);
    call.check(event);
    call.tx().queue(drop_watch, call.org(), look.card, call.caller().id);
    call.emit(event);
}

}  // namespace

void WatchersImpl::add(
    Tx& tx, const Uuid& org, const Uuid& card, const std::vector<Uuid>& principals
) {
    tx.queue(add_watches, org, card, principals);
}

const Operation get_card_watch{
    .name = "get_card_watch",
    .route = "GET /v1/cards/{card_id}/watchers/me",
    .summary = "See whether you watch a card.",
    .access = Access::board_viewer,
    .handler = see,
};

const Operation watch_card{
    .name = "watch_card",
    .route = "PUT /v1/cards/{card_id}/watchers/me",
    .summary = "Watch a card.",
    .access = Access::board_viewer,
    .idempotent = true,
    .handler = watch,
};

const Operation unwatch_card{
    .name = "unwatch_card",
    .route = "DELETE /v1/cards/{card_id}/watchers/me",
    .summary = "Stop watching a card.",
    .access = Access::board_viewer,
    .status = 204,
    .idempotent = true,
    .handler = unwatch,
};

}  // namespace svc::boards

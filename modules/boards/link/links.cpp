// Links between cards.

#include "modules/boards/api/events.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/card_link.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/card/requests.hpp"
#include "modules/boards/link/dependencies.hpp"
#include "modules/boards/operations.hpp"

#include <utility>

namespace svc::boards {

namespace {

constexpr std::size_t most_blockers = 50;

// Whichever of the two was named first when they only relate to each other.
constexpr Sql find_link{"boards.find_link", R"(
    SELECT l.id, l.kind AS type, l.card_id, l.target_id, l.created_time, l.created_by, 1 AS version
    FROM card_links l
    WHERE l.org_id = $1 AND l.kind = $3
        AND ((l.card_id = $2 AND l.target_id = $4)
            OR ($3 = 'relates' AND l.card_id = $4 AND l.target_id = $2)))"};

constexpr Sql find_link_by_id{"boards.find_link_by_id", R"(
    SELECT l.id, l.kind AS type, l.card_id, l.target_id, l.created_time, l.created_by, 1 AS version
    FROM card_links l
    WHERE l.org_id = $1 AND l.id = $2 AND $3 IN (l.card_id, l.target_id))"};

constexpr Sql insert_link{"boards.insert_link", R"(
    INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)
    VALUES ($1, $2, $3, $4, $5, $6))"};

constexpr Sql drop_link{"boards.drop_link", R"(
    DELETE FROM card_links WHERE org_id = $1 AND id = $2)"};

constexpr Sql find_other_blockers{"boards.find_other_blockers", R"(
    SELECT EXISTS (
        SELECT FROM card_links l
        JOIN cards c ON c.org_id = $1 AND c.id = l.card_id
        WHERE l.org_id = $1 AND l.target_id = $2 AND l.kind = 'blocks' AND l.card_id <> $3
            AND card_is_open(c.completed_at, c.is_archived, c.in_trash)) AS blocked)"};

struct Blocked {
    bool blocked = false;
};
SVC_RECORD(Blocked, (blocked));

/// Both ends of a link, locked: the one that others wait for comes first.
struct Ends {
    DeferredRows<CardAccess> card, target;

    Ends(Call& call, const Uuid& card_id, const Uuid& target_id, LinkType type)
        : card(locked(call, card_id, type)), target(locked(call, target_id, type)) {}

private:
    static DeferredRows<CardAccess> locked(Call& call, const Uuid& id, LinkType type) {
        if (type == LinkType::blocks) lock_card(call, id);
        return BoardCaller::of(call).later<CardAccess>(call.tx(), see_card, id);
    }
};

// --------------------------------------------------------------------------------- linking two

struct LinkCardsRequest {
    CardRef card_id;
    LinkType type{};
    CardRef target_id;
};
SVC_RECORD(
    LinkCardsRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (type,
     "`blocks`: the target has to wait for this card. `relates`: the two are related. "
     "`duplicates`: this card is a duplicate of the target."),
    (target_id, "The other card, on any board, by its id or its key.")
);

CardLink new_link(Call& call, const LinkCardsRequest& in, const Uuid& card, const Uuid& target) {
    CardLink link;
    link.id = new_uuid();
    link.type = in.type;
    link.card_id = card;
    link.target_id = target;
    link.created_by = AsJson(ref_of(call.caller()));
    return link;
}

void insert(Call& call, const CardLink& link) {
    call.tx().queue(
        insert_link,
        call.org(),
        link.card_id,
        link.type,
        link.target_id,
        link.id,
        link.created_by.text
    );
}

/// The waiting card with one more to wait for.
void block(Call& call, const Card& before, BlockersResolver& blocker, const CardLink& link) {
    auto ids = before.blocked_by.parsed();
    if (ids.size() >= most_blockers)
        throw wrong_field(call, "target_id", "the card waits for 50 others, and takes no more");
    ids.push_back(link.card_id);
    Card after = before;
    after.blocked_by = AsJson(ids);
    after.blocked = before.blocked || blocker.any_open();
    store_edit(call, before, after, link.created_time, [&] { insert(call, link); });
}

CardAccess require_target(Call& call, std::optional<CardAccess> seen, LinkType type) {
    if (!seen || !seen->role || seen->board_in_trash)
        throw wrong_field(call, "target_id", "there is no such card");
    if (type == LinkType::blocks) require_changeable(seen, BoardRole::editor);
    require_out_of_trash(seen->card);
    return *std::move(seen);
}

Answer<CardLink> link(Call& call, const LinkCardsRequest& in) {
    Tx& tx = call.tx();
    const Uuid card = id_of(call, in.card_id), target = id_of(call, in.target_id);
    if (card == target) throw wrong_field(call, "target_id", "a card is not linked to itself");
    const bool blocks = in.type == LinkType::blocks;
    lock_ties(call, card);
    Ends ends(call, card, target, in.type);
    auto present = tx.later<CardLink>(find_link, call.org(), card, in.type, target);
    BlockersResolver blocker(
        call, blocks ? std::optional(std::vector{card}) : std::nullopt, target
    );
    auto time = tx.later<Now>(ask_time);

    const auto seen = ends.card.one();
    require_changeable(seen, BoardRole::editor);
    require_out_of_trash(seen->card);
    const CardAccess other = require_target(call, ends.target.one(), in.type);
    if (const auto known = present.one()) return {200, *known};
    if (blocks) blocker.all();

    CardLink link = new_link(call, in, card, target);
    link.created_time = time.one_or_retry().now;
    const Event made = created(card_linked, link).on_board(seen->card.board_id).of_card(card);
    call.check(made);
    if (blocks) block(call, other.card, blocker, link);
    else insert(call, link);
    call.emit(made);
    return {201, link};
}

// ------------------------------------------------------------------------------- and no longer

struct UnlinkCardsRequest {
    CardRef card_id;
    Uuid link_id;
};
SVC_RECORD(UnlinkCardsRequest, (card_id, "One of the two, by its id or its key."), (link_id));

/// The waiting card with one less to wait for.
void unblock(Call& call, const Card& before, const CardLink& link) {
    Tx& tx = call.tx();
    auto others = tx.later<Blocked>(find_other_blockers, call.org(), before.id, link.card_id);
    auto time = tx.later<Now>(ask_time);
    Card after = before;
    auto ids = before.blocked_by.parsed();
    std::erase(ids, link.card_id);
    after.blocked_by = AsJson(ids);
    after.blocked = others.one_or_retry().blocked;
    store_edit(call, before, after, time.one_or_retry().now, [&] {
        tx.queue(drop_link, call.org(), link.id);
    });
}

void unlink(Call& call, const UnlinkCardsRequest& in) {
    Tx& tx = call.tx();
    const Uuid named = id_of(call, in.card_id);
    lock_ties(call, named);
    auto found = tx.later<CardLink>(find_link_by_id, call.org(), in.link_id, named);
    auto own = BoardCaller::of(call).later<CardAccess>(tx, see_card, named);
    const auto seen = own.one();
    require_changeable(seen, BoardRole::editor);
    const auto link = found.one();
    if (!link) not_found("link");
    // What it waits for may be on a board that the caller only looks at, or lost sight of.
    if (link->type == LinkType::blocks) {
        lock_blockers(call, {link->card_id});
        lock_card(call, link->target_id);
    }
    const auto target =
        BoardCaller::of(call).later<CardAccess>(tx, see_card, link->target_id).one();
    if (link->type == LinkType::blocks) require_changeable(target, BoardRole::editor);

    Event event = created(card_unlinked, *link).on_board(seen->card.board_id).of_card(named);
    event.previous = std::exchange(event.changes, "{}");
    call.check(event);
    if (link->type == LinkType::blocks) unblock(call, target->card, *link);
    else tx.queue(drop_link, call.org(), link->id);
    call.emit(event);
}

}  // namespace

const Operation link_cards{
    .name = "link_cards",
    .route = "POST /v1/cards/{card_id}/links",
    .summary = "Link two cards.",
    .description =
        "One card blocks another, relates to it or is a duplicate of it. A card that others block "
        "shows `blocked` until all of them are done, archived or deleted. Whoever would make "
        "cards wait for each other in a circle is refused with 409. A repeat answers 200 with the "
        "link that is there.",
    .access = Access::board_editor,
    .status = 201,
    .also = {200},
    .idempotent = true,
    .under_lease = true,
    .handler = link,
};

const Operation unlink_cards{
    .name = "unlink_cards",
    .route = "DELETE /v1/cards/{card_id}/links/{link_id}",
    .summary = "Remove a link between two cards.",
    .access = Access::board_editor,
    .status = 204,
    .destructive = true,
    .under_lease = true,
    .handler = unlink,
};

}  // namespace svc::boards

// Cards: making them, reading one.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/card/people.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/lib/file_values.hpp"
#include "modules/boards/link/dependencies.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/property/labels.hpp"
#include "modules/boards/property/values.hpp"
#include "modules/boards/storage/stored_bytes.hpp"

namespace svc::boards {

// -------------------------------------------------------------------------------- reading one

namespace {

constexpr Sql see_card_by_key{"boards.see_card_by_key", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role
    FROM card_view v
    )" SVC_BOARD_GRANT("v.board_id") R"(
    WHERE v.org_id = $1 AND v.id = (
        SELECT c.id FROM boards b
        JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = $6
        WHERE b.org_id = $1 AND b.key = $5))"};

Card get(Call& call, const CardOnly& in) {
    const BoardCaller caller = BoardCaller::of(call);
    const CardRef& ref = in.card_id;
    auto seen =
        ref.id ? caller.later<CardAccess>(call.tx(), see_card, *ref.id)
               : caller.later<CardAccess>(call.tx(), see_card_by_key, ref.board_key, ref.number);
    auto found = seen.one();
    if (!found) not_found("card");
    require(found->role, BoardRole::viewer, "card");
    return shown(call, std::move(found->card));
}

}  // namespace

// --------------------------------------------------------------------------------- making one

namespace {

// Numbers have no gaps: whoever comes second waits here, and a rollback gives the number back.
// What the following statements read is then the newest.
constexpr std::string_view give_number = R"(
    WITH numbered AS (
        UPDATE board_counters
        SET last_number = last_number + 1, card_count = card_count + 1
        WHERE org_id = $1 AND board_id = $5 AND)";
constexpr std::string_view and_hold_column = R"($5)
        RETURNING last_number
    ), shared AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = (SELECT $5::uuid FROM numbered) AND id = $6
        FOR KEY SHARE
    ), limited AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = (SELECT $5::uuid FROM numbered) AND id = $6
            AND wip_policy = 'hard' AND wip_limit IS NOT NULL
        FOR NO KEY UPDATE
    )
    SELECT last_number AS number, (SELECT count(*) FROM shared) AS columns,
        (SELECT count(*) FROM limited) AS limits
    FROM numbered)";
constexpr Sql next_number{
    "boards.next_number", SqlText<give_number, if_editor, and_hold_column>::view};

struct Number {
    std::int64_t number = 0;
};
SVC_RECORD(Number, (number));

constexpr Sql find_destination{"boards.destination_of_new_card", R"(
    SELECT k.id AS column_id, k.kind, k.wip_limit, k.wip_policy, k.queue_enabled, k.queue_order,
        CASE WHEN k.wip_policy = 'hard' AND k.wip_limit IS NOT NULL THEN (
            SELECT count(*) FROM cards c
            WHERE c.org_id = $1 AND c.column_id = k.id AND NOT c.is_archived AND NOT c.in_trash)
        END AS card_count,
        (SELECT max(c.position) FROM cards c
         WHERE c.org_id = $1 AND c.column_id = k.id AND NOT c.is_archived AND NOT c.in_trash)
            AS below,
        CASE WHEN $4::text IS NOT NULL THEN (
            SELECT c.id FROM cards c
            WHERE c.org_id = $1 AND c.board_id = $2 AND c.external_key = $4
                AND c.completed_at IS NULL AND NOT c.is_archived AND NOT c.in_trash)
        END AS key_conflict,
        coalesce(
            (SELECT jsonb_agg(p.name ORDER BY p.position)
             FROM properties p WHERE p.org_id = $1 AND p.board_id = $2 AND p.required),
            '[]') AS required
    FROM columns k
    WHERE k.org_id = $1 AND k.board_id = $2 AND k.id = $3 AND NOT k.in_trash)"};

constexpr Sql insert_card{
    "boards.insert_card",
    R"(
    INSERT INTO cards (
        org_id, id, board_id, column_id, number, position, title, labels, assignees, external_key,
        completed_at, created_by, last_edited_by, parent_card_id, blocked_by, block_count,
        properties)" SVC_CARD_COLUMNS("") R"()
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15, $16)" SVC_CARD_PARAMETERS(
        17
    ) ")"};

/// Where a new card is to stand, and the properties that it has to have values of.
struct PlaceOfNew {
    Destination destination;
    std::vector<std::string> required;
};
SVC_RECORD(PlaceOfNew, (destination, "", flatten), (required));

/// What the first round trip found out.
struct CreateContext {
    BoardAccess board;
    std::int64_t number = 0;
    Destination destination;
    OrderKey position;
    LabelResolver labels_resolver;
    ValuesResolver values_resolver;
    BlockersResolver blockers;
    PropertyValues values{};
    std::vector<LabelRef> labels{};
    std::vector<PrincipalRef> assignees{};
    std::unique_ptr<CardBodies::Body> body{};
};

Card card_on(CreateContext& context, const CreateCardRequest& in, Call& call, const Uuid& id) {
    Card card;
    card.id = id;
    card.org_id = call.org();
    card.board_id = in.board_id;
    card.column_id = in.column_id;
    card.key = context.board.key + "-" + std::to_string(context.number);
    card.title = in.title;
    card.position = context.position;
    card.labels = AsJson(context.labels);
    card.assignees = AsJson(context.assignees);
    SVC_COPY_CARD_FIELDS(card, in);
    card.properties = AsJson(context.values);
    card.parent_card_id = id_in(in.parent_card_id);
    card.blocked_by = AsJson(std::vector<Uuid>{});
    if (context.blockers.given()) {
        card.blocked_by = AsJson(context.blockers.ids());
        card.blocked = context.blockers.any_open();
    }
    if (context.body) card.block_count = context.body->block_count();
    card.has_children = card.block_count > 0;
    card.external_key = in.external_key;
    if (context.destination.column.kind == ColumnKind::done) card.completed_at = context.board.now;
    enter(card, &context.destination.column);
    card.url = url_of(call.kernel(), card);
    card.created_time = card.last_edited_time = context.board.now;
    card.created_by = card.last_edited_by = AsJson(ref_of(call.caller()));
    return card;
}

void insert(Tx& tx, const Card& card, std::int64_t number) {
    tx.queue(
        insert_card,
        card.org_id,
        card.id,
        card.board_id,
        card.column_id,
        number,
        card.position.str(),
        card.title,
        card.labels.text,
        card.assignees.text,
        card.external_key,
        card.completed_at,
        card.created_by.text,
        card.parent_card_id,
        card.blocked_by.text,
        card.block_count,
        card.properties.text SVC_CARD_ARGUMENTS(card)
    );
}

/// What no request for a copy says.
void copy_besides(const Card& from, Card& to, const CardBodies* bodies) {
    to.properties = from.properties;
    to.parent_card_id = from.parent_card_id;
    if (bodies) to.block_count = from.block_count;
    to.has_children = to.block_count > 0;
}

/// The body as it was asked for; none when nobody said anything about it.
std::unique_ptr<CardBodies::Body> body_of(Call& call, const CreateCardRequest& in) {
    if (!in.children && !in.markdown) return nullptr;
    const char* field = in.markdown ? "markdown" : "children";
    if (in.children && in.markdown)
        throw wrong_field(call, field, "a body is given as `children` or as `markdown`, not both");
    auto* bodies = call.kernel().find<CardBodies>();
    if (!bodies) throw wrong_field(call, field, "cards have no bodies on this server");
    return bodies->read(call, {in.children, in.markdown});
}

std::optional<std::vector<Uuid>> assignees_of(const CreateCardRequest& in, const Card* like) {
    if (!like) return in.assignees;
    std::vector<Uuid> ids;
    for (const PrincipalRef& each : like->assignees.parsed()) ids.push_back(each.id);
    return ids;
}

CreateContext explore(Call& call, const CreateCardRequest& in, const Uuid& id, const Card* like) {
    Tx& tx = call.tx();
    const Uuid& org = call.org();
    const Anchors anchors{id_in(in.before_id), id_in(in.after_id)};
    std::optional<std::vector<Uuid>> blocked_by;
    if (in.blocked_by) lock_blockers(call, blocked_by.emplace(ids_in(*in.blocked_by)));
    auto numbered = BoardCaller::of(call).later<Number>(tx, next_number, in.board_id, in.column_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto destination =
        tx.later<PlaceOfNew>(find_destination, org, in.board_id, in.column_id, in.external_key);
    std::optional<DeferredRows<Gap>> gap;
    if (anchors.any()) gap = find_gap(tx, org, in.column_id, id, anchors);
    LabelResolver labels(call, in.labels, in.board_id, std::nullopt);
    ValuesResolver values(call, in.properties, in.board_id, std::nullopt);
    PeopleResolver people(call, assignees_of(in, like));
    ParentResolver parent(call, id_in(in.parent_card_id), std::nullopt);
    BlockersResolver blockers(call, blocked_by, std::nullopt);
    auto body = body_of(call, in);

    const auto board = seen.one();
    require_changeable(board, BoardRole::editor);
    const auto place = destination.one();
    if (!place) throw wrong_field(call, "column_id", "the board has no such column");
    const Destination& found = place->destination;
    found.require_room();
    if (found.key_conflict) throw external_key_taken(*found.key_conflict);
    parent.require();
    CreateContext context{
        *board,
        numbered.one_or_retry().number,
        found,
        {},
        std::move(labels),
        std::move(values),
        std::move(blockers)};
    context.position = gap ? key_at(call, *gap, in.column_id, id, anchors)
                           : OrderKey::last(found.below, random_bits());
    if (context.labels_resolver.given()) context.labels = context.labels_resolver.refs();
    if (like) context.labels = like->labels.parsed();
    if (context.values_resolver.given())
        context.values = context.values_resolver.in_place_of({}, ValuesResolver::Lists::replace);
    if (!like) require_values(call, place->required, context.values);
    if (people.given()) context.assignees = like ? people.those_still_here() : people.refs();
    context.body = std::move(body);
    return context;
}

}  // namespace

std::vector<CardRef*> others_in(CreateCardRequest& in) {
    std::vector<CardRef*> others;
    for (auto* each : {&in.before_id, &in.after_id, &in.parent_card_id})
        if (*each) others.push_back(&**each);
    if (in.blocked_by)
        for (CardRef& each : *in.blocked_by) others.push_back(&each);
    return others;
}

Written make_card(Call& call, const CreateCardRequest& in, const Card* like) {
    Tx& tx = call.tx();
    const Uuid id = new_uuid();
    CreateContext context = explore(call, in, id, like);
    CardBodies* bodies = like ? call.kernel().find<CardBodies>() : nullptr;
    Card card = card_on(context, in, call, id);
    if (like) copy_besides(*like, card, bodies);
    const Event made =
        created(card_created, card).on_board(card.board_id).in_column(card.column_id);
    call.check(made);
    context.labels_resolver.make_new_ones(in.board_id);
    context.values_resolver.make_new_options();
    insert(tx, card, context.number);
    store_bytes(call, bytes_of(card));
    if (!context.assignees.empty()) index_assignees(tx, card.org_id, card.id, context.assignees);
    if (context.blockers.given()) context.blockers.store(card.id);
    if (has_files(card.properties.text)) follow_files(call, {card.id});
    if (context.body) context.body->write(call, card);
    if (bodies && card.block_count > 0) {
        store_bodies(call, {like->id});
        bodies->copy(call.kernel(), tx, ref_of(call.caller()), like->id, card)();
    }
    CallActor actor(call);
    const Placing placing{nullptr, card, &context.destination.column, context.board.now, actor};
    const auto& moves = MovesImpl::of(call.kernel());
    for (CardWatcher* watcher : moves.watchers()) watcher->made(tx, placing);
    moves.make_room(tx, card.org_id, card.column_id, card.position);
    call.emit(made);
    return {std::nullopt, card};
}

namespace {

Card create(Call& call, const CreateCardRequest& in) {
    CreateCardRequest wanted = in;
    find_ids(call, others_in(wanted));
    return make_card(call, wanted).after;
}

}  // namespace

const Operation get_card{
    .name = "get_card",
    .route = "GET /v1/cards/{card_id}",
    .summary = "Read a card.",
    .description = "Takes the card's id or its key, such as ENG-42.",
    .access = Access::board_viewer,
    .handler = get,
};

const Operation create_card{
    .name = "create_card",
    .route = "POST /v1/boards/{board_id}/cards",
    .summary = "Create a card.",
    .description =
        "Makes a card at the end of a column, or beside another card. Labels that the "
        "board lacks are added. A board may ask for values of some of its properties. With an "
        "`external_key` a repeat is refused with 409 "
        "instead of making a double.",
    .access = Access::board_editor,
    .status = 201,
    .body_limit = 2 << 20,
    .handler = create,
};

}  // namespace svc::boards

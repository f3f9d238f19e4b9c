// Creating a card: the operation, and what else makes cards by it.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/card/new_cards.hpp"
#include "modules/boards/card/people.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/lib/file_values.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/property/labels.hpp"
#include "modules/boards/property/values.hpp"
#include "modules/boards/storage/stored_bytes.hpp"

namespace svc::boards {

namespace {

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

/// What a copy takes over that no request for one says.
void copy_besides(const Card& from, Card& to, const CardBodies* bodies) {
    to.labels = from.labels;
    to.properties = from.properties;
    to.parent_card_id = from.parent_card_id;
    if (bodies) to.block_count = from.block_count;
    to.has_children = to.block_count > 0;
}

std::optional<std::vector<Uuid>> locked_blockers(Call& call, const CreateCardRequest& in) {
    if (!in.blocked_by) return std::nullopt;
    auto ids = ids_in(*in.blocked_by);
    lock_blockers(call, ids);
    return ids;
}

/// What is looked up, in one round trip, for a card that names other things.
struct Lookups {
    Lookups(Call& call, const CreateCardRequest& in, const Card* like, const Uuid& id)
        : anchors{id_in(in.before_id), id_in(in.after_id)},
          blocked_by(locked_blockers(call, in)),
          held(hold_place(call, in.board_id, in.column_id)),
          ground(see_ground(call, in.board_id, in.column_id, in.external_key)),
          labels(call, in.labels, in.board_id, std::nullopt),
          values(call, in.properties, in.board_id, std::nullopt),
          people(call, assignees_of(in, like)),
          parent(call, id_in(in.parent_card_id), std::nullopt),
          blockers(call, blocked_by, std::nullopt),
          body(body_of(call, in)) {
        if (anchors.any()) gap = find_gap(call.tx(), call.org(), in.column_id, id, anchors);
    }

    const Anchors anchors;
    const std::optional<std::vector<Uuid>> blocked_by;
    Result held;
    DeferredRows<Ground> ground;
    std::optional<DeferredRows<Gap>> gap;
    LabelResolver labels;
    ValuesResolver values;
    PeopleResolver people;
    ParentResolver parent;
    BlockersResolver blockers;
    std::unique_ptr<CardBodies::Body> body;
};

/// Of a card that names other things, or is a copy.
class Creation {
public:
    Creation(Call& call, const CreateCardRequest& in, const Card* like)
        : call_(call), in_(in), like_(like), new_{card_of(call, in), call.request_id(), {}} {}

    Card run() {
        TakenNumbers numbers(call_, in_.board_id, {&new_, 1});
        Lookups found(call_, in_, like_, new_.card.id);
        const auto seen = found.ground.one();
        if (!seen) not_found("board");
        const Ground& ground = *seen;
        require_ground(call_, ground);
        if (!like_ && !in_.properties) require_values(call_, ground.required, {});
        const Destination destination = ground.destination();
        destination.require_room();
        if (destination.key_conflict) throw external_key_taken(*destination.key_conflict);
        found.parent.require();
        if (!new_.number || found.held.rows() == 0)
            throw RetryTransaction("a board that was not held");

        std::vector<PrincipalRef> assignees;
        Card& card = new_.card;
        fill(card, found, ground, assignees);
        complete(card, ground, *new_.number);
        if (call_.has_hooks(card_created)) call_.check(event_of(card));
        found.labels.make_new_ones(in_.board_id);
        found.values.make_new_options();
        queue_creation(call_, {&new_, 1}, CreateHow::as_found);
        queue_with(call_, {&new_, 1});
        store_besides(card, found, assignees);
        tell_watchers(call_, card, ground);
        numbers.hand_over();
        return std::move(card);
    }

private:
    void fill(
        Card& card, Lookups& found, const Ground& ground, std::vector<PrincipalRef>& assignees
    ) {
        card.position = found.gap ? key_at(call_, *found.gap, in_.column_id, card.id, found.anchors)
                                  : OrderKey::last_by_time(random_bits(), ground.column.below);
        if (found.labels.given()) card.labels = AsJson(found.labels.refs());
        PropertyValues stated;
        if (found.values.given())
            stated = found.values.in_place_of({}, ValuesResolver::Lists::replace);
        if (!like_) require_values(call_, ground.required, stated);
        card.properties = AsJson(stated);
        if (found.people.given())
            assignees = like_ ? found.people.those_still_here() : found.people.refs();
        card.assignees = AsJson(assignees);
        if (found.blockers.given()) {
            card.blocked_by = AsJson(found.blockers.ids());
            card.blocked = found.blockers.any_open();
        }
        if (found.body) card.block_count = found.body->block_count();
        card.has_children = card.block_count > 0;
        if (like_) copy_besides(*like_, card, call_.kernel().find<CardBodies>());
    }

    /// What hangs on the card.
    void store_besides(
        const Card& card, Lookups& found, const std::vector<PrincipalRef>& assignees
    ) {
        Tx& tx = call_.tx();
        if (!assignees.empty()) index_assignees(tx, card.org_id, card.id, assignees);
        if (found.blockers.given()) found.blockers.store(card.id);
        if (has_files(card.properties.text)) follow_files(call_, {card.id});
        if (found.body) found.body->write(call_, card);
        CardBodies* bodies = like_ ? call_.kernel().find<CardBodies>() : nullptr;
        if (bodies && card.block_count > 0) {
            store_bodies(call_, {like_->id});
            bodies->copy(call_.kernel(), tx, ref_of(call_.caller()), like_->id, card)();
        }
        MovesImpl::of(call_.kernel()).make_room(tx, card.org_id, card.column_id, card.position);
    }

    Call& call_;
    const CreateCardRequest& in_;
    const Card* like_;
    NewCard new_;
};

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
    if (like || needs_lookups(in)) return {std::nullopt, Creation(call, in, like).run()};
    const JointRequest<CreateCardRequest> one{in, call.request_id()};
    return {std::nullopt, std::move(create_at_once(call, {&one, 1}).front())};
}

namespace {

Card create(Call& call, const CreateCardRequest& in) {
    if (!needs_lookups(in)) return make_card(call, in).after;
    CreateCardRequest wanted = in;
    find_ids(call, others_in(wanted));
    return make_card(call, wanted).after;
}

// -------------------------------------------------------------------- several calls, each for one

std::optional<std::string> creations_alike(Call& call, const CreateCardRequest& in) {
    // What names other things looks them up, and what is asked about each by itself is asked by
    // each.
    if (needs_lookups(in) || call.has_hooks(card_created)) return std::nullopt;
    return in.board_id.str() + ' ' + in.column_id.str();
}

/// Where the column has less room, those behind are told so by themselves.
std::vector<std::optional<Card>> create_each(
    Call& call, std::span<const JointRequest<CreateCardRequest>> requests
) {
    std::vector<std::optional<Card>> cards(requests.size());
    std::ranges::move(create_at_once(call, requests), cards.begin());
    return cards;
}

}  // namespace

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
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = create,
    .joint_handler = {creations_alike, create_each},
};

}  // namespace svc::boards

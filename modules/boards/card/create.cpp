// Creating a card: the operation, and what else makes cards by it.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/card/creation.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/card/numbers.hpp"
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

/// Whether names have to be looked up, or a place beside others, before there is a card to store.
bool needs_lookups(const CreateCardRequest& in) {
    return in.before_id || in.after_id || in.labels || in.assignees || in.properties ||
           in.parent_card_id || in.blocked_by || in.external_key || in.children || in.markdown;
}

/// What a copy takes over that no request for one says.
void copy_besides(const Card& from, Card& to, const CardBodies* bodies) {
    to.labels = from.labels;
    to.properties = from.properties;
    to.parent_card_id = from.parent_card_id;
    if (bodies) to.block_count = from.block_count;
    to.has_children = to.block_count > 0;
}

/// The card as far as the request says what it is.
Card card_of(Call& call, const CreateCardRequest& in, const Uuid& id) {
    Card card;
    card.id = id;
    card.org_id = call.org();
    card.board_id = in.board_id;
    card.column_id = in.column_id;
    card.title = in.title;
    card.labels = AsJson(std::vector<LabelRef>{});
    card.assignees = AsJson(std::vector<PrincipalRef>{});
    SVC_COPY_CARD_FIELDS(card, in);
    card.properties = AsJson(PropertyValues{});
    card.parent_card_id = id_in(in.parent_card_id);
    card.blocked_by = AsJson(std::vector<Uuid>{});
    card.external_key = in.external_key;
    card.url = url_of(call.kernel(), card);
    card.created_by = card.last_edited_by = AsJson(ref_of(call.caller()));
    return card;
}

/// A number of a card that is not there after all is given out again.
class TakenNumber {
public:
    TakenNumber(Call& call, const Uuid& board)
        : numbers_(call.use<CardNumbers>()), board_(board), number_(numbers_.take(call, board)) {}
    ~TakenNumber() {
        if (number_) numbers_.give_back(board_, *number_);
    }
    TakenNumber(const TakenNumber&) = delete;
    TakenNumber& operator=(const TakenNumber&) = delete;

    const std::optional<std::int64_t>& value() const { return number_; }
    void keep() { number_.reset(); }

private:
    CardNumbers& numbers_;
    const Uuid board_;
    std::optional<std::int64_t> number_;
};

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

class Creation {
public:
    Creation(Call& call, const CreateCardRequest& in, const Card* like)
        : call_(call), in_(in), like_(like), id_(new_uuid()) {}

    Card run() { return like_ || needs_lookups(in_) ? with_lookups() : at_once(); }

private:
    // ------------------------------------------------------------------- by one statement

    Card at_once() {
        call_.goes_alone(card_created);
        Card card = card_of(call_, in_, id_);
        card.position = OrderKey::last_by_time(random_bits());
        auto how = CreateHow::at_once;
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            TakenNumber number(call_, in_.board_id);
            // In the pipeline that creates: whatever commits it gives the locks back.
            if (how == CreateHow::held) hold_place(call_, in_.board_id, in_.column_id);
            auto created = queue_creation(call_, card, number.value(), how);
            queue_with_card(card);
            const auto found = created.one();
            if (!found) not_found("board");
            const Ground& ground = *found;
            call_.caller_holds(ground.caller_holds);
            if (ground.created) {
                complete(card, ground, *number.value());
                number.keep();
                if (call_.has_hooks(card_created)) call_.check(event_of(card));
                tell_watchers(card, ground);
                return card;
            }
            require(ground);
            if (!number.value()) throw RetryTransaction("a right that was given just now");
            if (ground.is_limited()) {
                ground.destination().require_room();
                how = CreateHow::held;
            }
            // Somebody may have placed a card further down than time has come.
            card.position = OrderKey::last_by_time(random_bits(), ground.column.below);
        }
        throw RetryTransaction("the end of a column moves on");
    }

    /// What belongs to the card and asks for nothing but its row.
    void queue_with_card(const Card& card) {
        static_cast<StoredBytesImpl&>(call_.use<StoredBytes>())
            .add_card(call_.tx(), card.org_id, card.id, bytes_of(card));
        for (CardWatcher* watcher : MovesImpl::of(call_.kernel()).watchers())
            watcher->creating(call_.tx(), card);
    }

    static void complete(Card& card, const Ground& ground, std::int64_t number) {
        card.key = ground.key + "-" + std::to_string(number);
        card.created_time = card.last_edited_time = ground.now;
        const ColumnRules rules = ground.destination().column;
        if (rules.kind == ColumnKind::done) card.completed_at = ground.now;
        enter(card, &rules);
    }

    void tell_watchers(const Card& card, const Ground& ground) {
        CallActor actor(call_);
        const ColumnRules rules = ground.destination().column;
        const Placing placing{nullptr, card, &rules, ground.now, actor};
        for (CardWatcher* watcher : MovesImpl::of(call_.kernel()).watchers())
            watcher->created(placing);
    }

    static Event event_of(const Card& card) {
        return created(card_created, card).on_board(card.board_id).in_column(card.column_id);
    }

    // ------------------------------------------------------------------- with what it names

    Card with_lookups() {
        TakenNumber number(call_, in_.board_id);
        Lookups found(call_, in_, like_, id_);
        const auto seen = found.ground.one();
        if (!seen) not_found("board");
        const Ground& ground = *seen;
        require(ground);
        const Destination destination = ground.destination();
        destination.require_room();
        if (destination.key_conflict) throw external_key_taken(*destination.key_conflict);
        found.parent.require();
        if (!number.value() || found.held.rows() == 0)
            throw RetryTransaction("a board that was not held");

        std::vector<PrincipalRef> assignees;
        Card card = card_with(found, ground, assignees);
        complete(card, ground, *number.value());
        if (call_.has_hooks(card_created)) call_.check(event_of(card));
        found.labels.make_new_ones(in_.board_id);
        found.values.make_new_options();
        queue_creation(call_, card, number.value(), CreateHow::as_found);
        queue_with_card(card);
        store_besides(card, found, assignees);
        tell_watchers(card, ground);
        number.keep();
        return card;
    }

    Card card_with(Lookups& found, const Ground& ground, std::vector<PrincipalRef>& assignees) {
        Card card = card_of(call_, in_, id_);
        card.position = found.gap ? key_at(call_, *found.gap, in_.column_id, id_, found.anchors)
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
        return card;
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

    /// Throws what keeps the caller from creating a card there at all.
    void require(const Ground& ground) const {
        require_changeable(
            BoardAccess{ground.role, ground.key, ground.is_archived, ground.in_trash, ground.now},
            BoardRole::editor
        );
        if (!ground.column.kind)
            throw wrong_field(call_, "column_id", "the board has no such column");
        if (like_ || in_.properties) return;
        require_values(call_, ground.required, {});
    }

    static constexpr int most_attempts = 5;

    Call& call_;
    const CreateCardRequest& in_;
    const Card* like_;
    const Uuid id_;
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
    return {std::nullopt, Creation(call, in, like).run()};
}

namespace {

Card create(Call& call, const CreateCardRequest& in) {
    CreateCardRequest wanted = in;
    find_ids(call, others_in(wanted));
    return make_card(call, wanted).after;
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
};

}  // namespace svc::boards

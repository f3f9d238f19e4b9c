#include "modules/boards/card/new_cards.hpp"

#include "modules/boards/api/events.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/property/values.hpp"
#include "modules/boards/storage/stored_bytes.hpp"

namespace svc::boards {

Card card_of(Call& call, const CreateCardRequest& in) {
    Card card;
    card.id = new_uuid();
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

// ------------------------------------------------------------------------------------- numbers

TakenNumbers::TakenNumbers(Call& call, const Uuid& board, std::span<NewCard> cards)
    : numbers_(call.use<CardNumbers>()), board_(board) {
    taken_.reserve(cards.size());
    bool may_edit = true;
    for (NewCard& each : cards) {
        each.number = may_edit ? numbers_.take(call, board) : std::nullopt;
        may_edit = each.number.has_value();
        if (may_edit) taken_.push_back(*each.number);
    }
}

void TakenNumbers::answered(std::size_t made) {
    handed_over_ = false;
    give_back_from(made);
    taken_.clear();
}

/// The last first: only that one can be given back.
void TakenNumbers::give_back_from(std::size_t first) noexcept {
    if (handed_over_) return;
    for (std::size_t i = taken_.size(); i > first; --i) numbers_.give_back(board_, taken_[i - 1]);
}

// -------------------------------------------------------------------- before and after the cards

void require_ground(Call& call, const Ground& ground) {
    require_changeable(
        BoardAccess{ground.role, ground.key, ground.is_archived, ground.in_trash, ground.now},
        BoardRole::editor
    );
    if (!ground.column.kind) throw wrong_field(call, "column_id", "the board has no such column");
}

void queue_with(Call& call, std::span<const NewCard> cards) {
    auto& stored = static_cast<StoredBytesImpl&>(call.use<StoredBytes>());
    std::vector<const Card*> all;
    for (const NewCard& each : cards) {
        stored.add_card(call.tx(), each.card.org_id, each.card.id, bytes_of(each.card));
        all.push_back(&each.card);
    }
    for (CardWatcher* watcher : MovesImpl::of(call.kernel()).watchers())
        watcher->creating(call.tx(), all);
}

void complete(Card& card, const Ground& ground, std::int64_t number) {
    card.key = ground.key + "-" + std::to_string(number);
    card.created_time = card.last_edited_time = ground.now;
    const ColumnRules rules = ground.destination().column;
    if (rules.kind == ColumnKind::done) card.completed_at = ground.now;
    enter(card, &rules);
}

void tell_watchers(Call& call, const Card& card, const Ground& ground) {
    CallActor actor(call);
    const ColumnRules rules = ground.destination().column;
    const Placing placing{nullptr, card, &rules, ground.now, actor};
    for (CardWatcher* watcher : MovesImpl::of(call.kernel()).watchers()) watcher->created(placing);
}

Event event_of(const Card& card) {
    return created(card_created, card).on_board(card.board_id).in_column(card.column_id);
}

// --------------------------------------------------------------------------- by one statement

bool needs_lookups(const CreateCardRequest& in) {
    return in.before_id || in.after_id || in.labels || in.assignees || in.properties ||
           in.parent_card_id || in.blocked_by || in.external_key || in.children || in.markdown;
}

namespace {

constexpr int most_attempts = 5;

/// Somebody may have placed a card further down than time has come: behind that one.
void place(std::vector<NewCard>& cards, const OrderKey& below = {}) {
    for (NewCard& each : cards) each.card.position = OrderKey::last_by_time(random_bits(), below);
}

/// Those that were created are complete.
std::vector<Card> finished(Call& call, std::vector<NewCard>& cards, const Ground& ground) {
    std::vector<Card> created;
    for (NewCard& each : cards) {
        if (created.size() == static_cast<std::size_t>(ground.created)) break;
        complete(each.card, ground, *each.number);
        if (call.has_hooks(card_created)) call.check(event_of(each.card));
        tell_watchers(call, each.card, ground);
        created.push_back(std::move(each.card));
    }
    return created;
}

}  // namespace

std::vector<Card> create_at_once(
    Call& call, std::span<const JointRequest<CreateCardRequest>> requests
) {
    call.goes_alone(card_created);
    std::vector<NewCard> cards;
    for (const auto& each : requests)
        cards.push_back({card_of(call, each.in), each.request_id, std::nullopt});
    place(cards);
    const Uuid board = requests.front().in.board_id, column = requests.front().in.column_id;
    auto how = CreateHow::at_once;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        TakenNumbers numbers(call, board, cards);
        call.tx().changed_nothing();  // an attempt that failed, and numbers that nobody has yet
        // In the pipeline that creates: whatever commits it gives the locks back.
        if (how == CreateHow::held) hold_place(call, board, column);
        auto created = queue_creation(call, cards, how);
        queue_with(call, cards);
        numbers.hand_over();
        const auto found = created.one();
        numbers.answered(found ? static_cast<std::size_t>(found->created) : 0);
        if (!found) not_found("board");
        const Ground& ground = *found;
        call.caller_holds(ground.caller_holds);
        if (ground.created > 0) return finished(call, cards, ground);
        require_ground(call, ground);
        require_values(call, ground.required, {});
        if (!cards.back().number) throw RetryTransaction("a right that was given just now");
        if (ground.is_limited()) {
            ground.destination().require_room();
            how = CreateHow::held;
        }
        place(cards, ground.column.below);
    }
    throw RetryTransaction("the end of a column moves on");
}

}  // namespace svc::boards

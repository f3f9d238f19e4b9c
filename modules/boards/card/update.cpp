// Changing cards, but for their place.

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/card/people.hpp"
#include "modules/boards/card/rewrites.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/link/dependencies.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/property/labels.hpp"
#include "modules/boards/property/values.hpp"

namespace svc::boards {

namespace {

/// One update: the look-ups go out together, before anything is read.
class Update {
public:
    Update(Call& call, const UpdateCardRequest& in, const Uuid& card, std::int64_t most_waiting)
        : call_(call), in_(in), merge_(in.merge_properties || call.merge_properties()) {
        Tx& tx = call.tx();
        const Uuid& org = call.org();
        const auto parent = id_in(in.parent_card_id.value());
        const auto blocked_by = ids_in(in.blocked_by.value());
        if (parent || in.blocked_by.given()) lock_ties(call, card);
        lock_blockers(call, blocked_by);
        lock_card(call, card);
        const auto key = in.external_key.given() ? in.external_key.value() : std::nullopt;
        // Whoever shares the board's lock first and then wants it alone may never get it.
        const bool both = in.labels.given() && in.properties.given();
        if (key || both) lock_definitions_of(call, card);
        if (key) key_conflict_ = find_key_conflict(tx, org, card, *key);
        values_.emplace(call, if_given(in.properties), std::nullopt, card);
        labels_.emplace(call, if_given(in.labels), std::nullopt, card);
        if (values_->given() || labels_->given()) catch_up_.emplace(call, card);
        people_.emplace(call, if_given(in.assignees));
        parent_.emplace(call, parent, card);
        blockers_.emplace(
            call,
            in.blocked_by.given() ? std::optional(blocked_by) : std::nullopt,
            card,
            most_waiting
        );
        seen_ = BoardCaller::of(call).later<CardAccess>(tx, see_card, card);
        time_ = tx.later<Now>(ask_time);
    }

    Written run() {
        const auto seen = seen_->one();
        require_changeable(seen, BoardRole::editor);
        require_out_of_trash(seen->card);
        call_.require_version(seen->card.version);
        Card before = seen->card;
        if (catch_up_) catch_up_->apply_to(before);
        Card after = before;
        apply_to(after);
        if (to_json(after) == to_json(before)) return {before, after};
        if (key_conflict_)
            if (const auto key_conflict = key_conflict_->one())
                throw external_key_taken(key_conflict->id);
        store_edit(call_, before, after, time_->one_or_retry().now, [&] {
            if (labels_->given()) labels_->make_new_ones(after.board_id);
            values_->make_new_options();
            if (blockers_->given()) blockers_->store(after.id);
        });
        if (catch_up_) catch_up_->let_files_go(after);
        return {before, after};
    }

private:
    void apply_to(Card& card) {
        in_.title.apply_to(card.title);
        SVC_APPLY_CARD_PATCHES(in_, card);
        in_.external_key.apply_to(card.external_key);
        parent_->require(card.parent_card_id);
        if (in_.parent_card_id.given()) card.parent_card_id = id_in(in_.parent_card_id.value());
        const auto present = card.blocked_by.parsed();
        blockers_->keep(present);
        if (blockers_->given() && blockers_->ids() != present) {
            card.blocked_by = AsJson(blockers_->ids());
            card.blocked = blockers_->any_open();
        }
        if (values_->given()) set_values(card);
        if (labels_->given()) replace(card.labels, labels_->refs(), "labels", 50);
        if (people_->given())
            replace(card.assignees, people_->refs(card.assignees.parsed()), "assignees", 20);
    }

    void set_values(Card& card) {
        using Lists = ValuesResolver::Lists;
        const auto present = card.properties.parsed();
        const auto values = values_->in_place_of(present, merge_ ? Lists::join : Lists::replace);
        if (!same_values(values, present)) card.properties = AsJson(values);
    }

    template <class Ref>
    void replace(
        AsJson<std::vector<Ref>>& list,
        std::vector<Ref> refs,
        std::string_view field,
        std::size_t most
    ) const {
        auto present = list.parsed();
        if (merge_) refs = joined(present, refs);
        if (refs.size() > most)
            throw wrong_field(
                call_, field, "joined these would be more than " + std::to_string(most)
            );
        if (refs != present) list = AsJson(refs);
    }

    Call& call_;
    const UpdateCardRequest& in_;
    const bool merge_;
    std::optional<DeferredRows<KeyConflict>> key_conflict_;
    std::optional<LabelResolver> labels_;
    std::optional<CatchUp> catch_up_;
    std::optional<ValuesResolver> values_;
    std::optional<PeopleResolver> people_;
    std::optional<ParentResolver> parent_;
    std::optional<BlockersResolver> blockers_;
    std::optional<DeferredRows<CardAccess>> seen_;
    std::optional<DeferredRows<Now>> time_;
};

Card update(Call& call, const UpdateCardRequest& in) {
    UpdateCardRequest wanted = in;
    find_ids(call, others_in(wanted));
    return shown(call, change_card(call, wanted).after);
}

}  // namespace

std::vector<CardRef*> others_in(UpdateCardRequest& in) {
    std::vector<CardRef*> others;
    if (in.parent_card_id.given() && in.parent_card_id.value())
        others.push_back(&*in.parent_card_id.give());
    if (in.blocked_by.given())
        for (CardRef& each : in.blocked_by.give()) others.push_back(&each);
    return others;
}

Written change_card(Call& call, const UpdateCardRequest& in, std::int64_t most_waiting) {
    return Update(call, in, id_of(call, in.card_id), most_waiting).run();
}

const Operation update_card{
    .name = "update_card",
    .route = "PATCH /v1/cards/{card_id}",
    .summary = "Change a card.",
    .description =
        "Changes only the fields that are sent, and only the values of properties that are named; "
        "null clears, lists replace unless `merge_properties` is set. Whoever ties cards in a "
        "circle, as parts of each other or as "
        "waiting for each other, is refused with 409.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = update,
};

}  // namespace svc::boards

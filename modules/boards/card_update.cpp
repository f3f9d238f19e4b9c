// Changing cards, but for their place.

#include "modules/boards/card.hpp"
#include "modules/boards/labels.hpp"
#include "modules/boards/moves.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/people.hpp"

namespace svc::boards {

namespace {

struct UpdateCardRequest {
    CardRef card_id;
    Patch<std::string> title;
    Patch<std::vector<std::string>> labels;
    Patch<std::vector<Uuid>> assignees;
    Patch<std::optional<Moment>> due;
    Patch<std::optional<Moment>> start;
    Patch<Priority> priority;
    Patch<std::optional<double>> estimate;
    Patch<std::optional<std::string>> external_key;
    bool merge_properties = false;
};
SVC_RECORD(
    UpdateCardRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (title, "What is to be done, in one line.", length(1, 500), trimmed),
    (labels,
     "Ids or names, in place of those it has; names the board does not know yet are added to it.",
     length(0, 50),
     items_up_to(60)),
    (assignees, "Ids of people and agents, in place of those it has.", length(0, 20)),
    (due, "A day (2026-06-19) or an instant (2026-06-19T10:00:00Z); null clears it."),
    (start, "A day or an instant; null clears it."),
    (priority, "How urgent it is."),
    (estimate, "null clears it."),
    (external_key,
     "Your own name for it, unique among the board's open cards; null clears it.",
     length(1, 200)),
    (merge_properties,
     "Adds labels and assignees to those it has; by REST also `Prefer: merge-properties`.",
     defaulted)
);

// Whoever gives a card a key waits for those who give it to another.
constexpr Sql lock_board_of_card{"boards.lock_board_of_card", R"(
    SELECT board_id FROM board_counters
    WHERE org_id = $1 AND board_id = (SELECT board_id FROM cards WHERE org_id = $1 AND id = $2)
    FOR UPDATE)"};

constexpr Sql find_rival{"boards.find_rival", R"(
    SELECT o.id FROM cards c
    JOIN cards o
        ON o.org_id = $1 AND o.board_id = c.board_id AND o.external_key = $3 AND o.id <> $2
        AND o.completed_at IS NULL AND NOT o.is_archived AND NOT o.in_trash
    WHERE c.org_id = $1 AND c.id = $2
        AND c.completed_at IS NULL AND NOT c.is_archived AND NOT c.in_trash)"};

struct Rival {
    Uuid id;
};
SVC_RECORD(Rival, (id, ""));

constexpr Sql ask_time{"boards.time", "SELECT now() AS now"};

struct Time {
    Timestamp now;
};
SVC_RECORD(Time, (now, ""));

constexpr Sql write_card{"boards.update_card", R"(
    UPDATE cards
    SET title = $3, labels = $4, assignees = $5, due = $6, start = $7, priority = $8,
        estimate = $9, external_key = $10,
        last_edited_time = now(), last_edited_by = $11, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

void store(Tx& tx, const Card& card) {
    tx.queue(
        write_card,
        card.org_id,
        card.id,
        card.title,
        card.labels.text,
        card.assignees.text,
        card.due,
        card.start,
        card.priority,
        card.estimate,
        card.external_key,
        card.last_edited_by.text
    );
}

template <class T>
std::optional<T> if_given(const Patch<T>& patch) {
    return patch.given() ? std::optional(patch.value()) : std::nullopt;
}

/// One update: the look-ups go out together, before anything is read.
class Update {
public:
    Update(Call& call, const UpdateCardRequest& in, const Uuid& card)
        : call_(call), in_(in), merge_(in.merge_properties || call.merge_properties()) {
        Tx& tx = call.tx();
        const Uuid& org = call.org();
        tx.queue(lock_card, org, card);
        const auto key = in.external_key.given() ? in.external_key.value() : std::nullopt;
        if (key) {
            tx.queue(lock_board_of_card, org, card);
            rival_ = tx.later<Rival>(find_rival, org, card, *key);
        }
        labels_.emplace(call, if_given(in.labels), std::nullopt, card);
        people_.emplace(call, if_given(in.assignees));
        seen_ = Seat::of(call).later<CardSeen>(tx, see_card, card);
        time_ = tx.later<Time>(ask_time);
    }

    Card run() {
        const auto seen = seen_->one();
        require_changeable(seen, BoardRole::editor);
        call_.require_version(seen->card.version);
        const Card& before = seen->card;
        Card after = before;
        const bool reassigned = apply_to(after);
        if (to_json(after) == to_json(before)) return after;
        if (rival_)
            if (const auto rival = rival_->one()) throw external_key_taken(rival->id);
        after.last_edited_time = time_->one()->now;
        after.last_edited_by = AsJson(ref_of(call_.caller()));
        after.version = before.version + 1;
        write(before, after, reassigned);
        return after;
    }

private:
    /// Whether it has other assignees now.
    bool apply_to(Card& card) {
        in_.title.apply_to(card.title);
        in_.due.apply_to(card.due);
        in_.start.apply_to(card.start);
        in_.priority.apply_to(card.priority);
        in_.estimate.apply_to(card.estimate);
        in_.external_key.apply_to(card.external_key);
        if (labels_->given()) replace(card.labels, labels_->refs(), "labels", 50);
        return people_->given() && replace(card.assignees, people_->refs(), "assignees", 20);
    }

    template <class Ref>
    bool replace(
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
        if (refs == present) return false;
        list = AsJson(refs);
        return true;
    }

    void write(const Card& before, const Card& after, bool reassigned) {
        const Event event = placed(changed(card_updated, before, after), after);
        call_.ask(event);
        std::optional<Event> assigned;
        if (reassigned) {
            Card unassigned = after;
            unassigned.assignees = before.assignees;
            assigned = placed(changed(card_assigned, unassigned, after), after);
            call_.ask(*assigned);
        }
        if (labels_->given()) labels_->make_new_ones(after.board_id);
        store(call_.tx(), after);
        const bool sorted_anew = after.priority != before.priority || after.due != before.due;
        if (sorted_anew && after.queue.state != QueueState::idle)
            for (CardWatcher* watcher : moves().watchers()) watcher->reordered(call_.tx(), after);
        call_.tell(event);
        if (!assigned) return;
        index_assignees(call_.tx(), after.org_id, after.id, after.assignees.parsed());
        call_.tell(*assigned);
    }

    static Event placed(Event event, const Card& card) {
        return std::move(event).on_board(card.board_id).in_column(card.column_id);
    }

    Call& call_;
    const UpdateCardRequest& in_;
    const bool merge_;
    std::optional<Later<Rival>> rival_;
    std::optional<WantedLabels> labels_;
    std::optional<WantedPeople> people_;
    std::optional<Later<CardSeen>> seen_;
    std::optional<Later<Time>> time_;
};

Card update(Call& call, const UpdateCardRequest& in) {
    Card card = Update(call, in, id_of(call, in.card_id)).run();
    card.url = url_of(call.kernel(), card);
    return card;
}

}  // namespace

const Operation update_card{
    .name = "update_card",
    .route = "PATCH /v1/cards/{card_id}",
    .summary = "Change a card.",
    .description =
        "Changes only the fields that are sent; null clears, lists replace unless "
        "`merge_properties` is set. Send the card's version as If-Match to refuse to "
        "overwrite somebody else's change (412).",
    .access = Access::board_editor,
    .idempotent = true,
    .handler = update,
};

}  // namespace svc::boards

#include "modules/boards/waiting.hpp"

namespace svc::boards {

bool is_open(const Card& card) { return !card.completed_at && !card.is_archived && !card.in_trash; }

void tell_the_waiting(Doer& doer, const std::vector<Waiting>& waiting, Blockers now) {
    const bool blocked = now == Blockers::opened;
    for (const Waiting& each : waiting) {
        Event event;
        event.kind = blocked ? &card_blocked : &card_unblocked;
        event.id = each.id;
        event.version = each.version;
        event.name = each.title;
        event.changes = blocked ? R"({"blocked":true})" : R"({"blocked":false})";
        event.previous = blocked ? R"({"blocked":false})" : R"({"blocked":true})";
        doer.tell(std::move(event).on_board(each.board_id).in_column(each.column_id));
    }
}

}  // namespace svc::boards

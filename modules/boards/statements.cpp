#include "modules/boards/statements.hpp"

namespace svc::boards {

namespace {

Failure wrong_at(
    const Call& call,
    const std::string& rest,
    std::string_view message,
    const std::string& place = "body"
) {
    const std::string root = call.request() ? place : "arguments";
    return Failure::invalid_at("[\"" + root + "\"," + rest + "]", "value_error", message);
}

constexpr std::string_view that_card = R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND c.id = $5 AND)";
constexpr std::string_view card_for_update = "c.board_id) FOR UPDATE OF c";
constexpr Sql lock_to_change{
    "boards.lock_card", SqlText<that_card, if_editor, card_for_update>::view};

constexpr std::string_view that_board = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1 AND n.board_id = $5 AND)";
constexpr std::string_view board_for_update = "n.board_id) FOR UPDATE OF n";
constexpr Sql lock_counter{
    "boards.lock_definitions", SqlText<that_board, if_editor, board_for_update>::view};

}  // namespace

void lock_card(Call& call, const Uuid& card) {
    Seat::of(call).lock(call.tx(), lock_to_change, card);
}

void lock_definitions(Call& call, const Uuid& board) {
    Seat::of(call).lock(call.tx(), lock_counter, board);
}

void require_changeable(const std::optional<BoardSeen>& board, BoardRole least) {
    if (!board || board->in_trash) not_found("board");
    require(board->role, least, "board");
    if (board->is_archived) throw board_archived();
}

void require_changeable(const std::optional<CardSeen>& seen, BoardRole least) {
    if (!seen || seen->board_in_trash) not_found("card");
    require(seen->role, least, "card");
    if (seen->board_is_archived) throw board_archived();
}

void require_out_of_trash(const Card& card) {
    if (card.in_trash) throw card_in_trash();
}

void require_visible(const std::optional<CardSeen>& seen) {
    if (!seen) not_found("card");
    require(seen->role, BoardRole::viewer, "card");
}

Failure wrong_field(const Call& call, std::string_view field, std::string_view message) {
    return wrong_at(call, '"' + std::string(field) + '"', message);
}

Failure wrong_in_query(const Call& call, std::string_view field, std::string_view message) {
    return wrong_at(call, '"' + std::string(field) + '"', message, "query");
}

Failure wrong_item(
    const Call& call, std::string_view field, std::size_t index, std::string_view message
) {
    return wrong_at(call, '"' + std::string(field) + "\"," + std::to_string(index), message);
}

}  // namespace svc::boards

#include "modules/boards/statements.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view that_board = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1 AND n.board_id = $5 AND)";
constexpr std::string_view board_for_update = "n.board_id) FOR UPDATE OF n";
constexpr Sql lock_counter{
    "boards.lock_definitions", SqlText<that_board, if_editor, board_for_update>::view};

}  // namespace

void lock_definitions(Call& call, const Uuid& board) {
    BoardCaller::of(call).lock(call.tx(), lock_counter, board);
}

void require_changeable(const std::optional<BoardAccess>& board, BoardRole least) {
    if (!board || board->in_trash) not_found("board");
    require(board->role, least, "board");
    if (board->is_archived) throw board_archived();
}

Failure wrong_item(
    const Call& call, std::string_view field, std::size_t index, std::string_view message
) {
    return wrong_at(call, '"' + std::string(field) + "\"," + std::to_string(index), message);
}

}  // namespace svc::boards

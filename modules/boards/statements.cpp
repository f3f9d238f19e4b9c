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
    return Failure::invalid_at(
        "[\"" + root + "\"," + rest + "]", "value_error", "Value error, " + std::string(message)
    );
}

}  // namespace

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
    if (!seen || seen->board_in_trash) not_found("card");
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

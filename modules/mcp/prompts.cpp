#include "modules/mcp/prompts.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace svc::mcp {

namespace {

struct Prompt {
    std::string_view name, title, description;
    bool takes_board;  ///< and must; otherwise it may be given one
    std::string_view text;
};

constexpr Prompt prompts[] = {
    {"work-the-queue",
     "Work the queue",
     "Claim cards one after the other, do what they ask for, and complete them.",
     false,
     "Work the queue{of}, one card at a time, until it is empty.\n\n"
     "1. list_queues shows the queues with work in them{filter}. Claim the next card with "
     "claim_next_card and keep its lease_id and lease_token.\n"
     "2. Read get_card_context: what is to be done, what was tried before, what was said.\n"
     "3. Do the work. While it takes long, renew_lease before `expires_at`, and stop when its "
     "`signals` say so. Say what you find with create_comment.\n"
     "4. complete_lease with a `result` when it is done. When you cannot do it, fail_lease with "
     "the reason; when it is not for you, release_lease.\n"
     "5. Go on with the next card. When `claimed` is false, say what you did and stop."},
    {"triage-board",
     "Triage a board",
     "Go through what is new on a board: priority, labels, duplicates, what is missing.",
     true,
     "Triage the board below. For each card in its first columns say whether it is clear what is "
     "to be done, which priority it has, which labels it should have, and whether it is a "
     "duplicate of another. Ask before you change anything; then change cards with update_card, "
     "connect them with link_cards, and ask what is unclear with create_comment."},
    {"summarize-board",
     "Summarize a board",
     "What is being done on a board, what waits, and what is stuck.",
     true,
     "Summarize the board below for somebody who has not seen it for a week: what is done, what is "
     "in progress and by whom, what waits for others or is overdue, and what is next. Name cards "
     "by their keys. list_board_activity says what happened when."},
};

std::string replaced(std::string text, std::string_view mark, const std::string& by) {
    if (const auto at = text.find(mark); at != text.npos) text.replace(at, mark.size(), by);
    return text;
}

json::object message_of(json::object content) {
    return {{"role", "user"}, {"content", std::move(content)}};
}

std::string board_argument(const Message& message, const Prompt& prompt) {
    const auto* given = message.find("arguments");
    const auto* arguments = given ? given->if_object() : nullptr;
    const auto* board = arguments ? arguments->if_contains("board") : nullptr;
    if (board && board->is_string() && !board->get_string().empty())
        return std::string(board->get_string());
    if (!prompt.takes_board) return {};
    throw RpcError(
        Code::invalid_params,
        "The prompt " + std::string(prompt.name) +
            " needs the argument `board`: an id, key or name."
    );
}

}  // namespace

std::string list_prompts() {
    json::array all;
    for (const Prompt& each : prompts)
        all.push_back(json::object{
            {"name", each.name},
            {"title", each.title},
            {"description", each.description},
            {"arguments",
             json::array{json::object{
                 {"name", "board"},
                 {"description", "A board: its id, key or name."},
                 {"required", each.takes_board}
             }}}
        });
    return "\"prompts\":" + json::serialize(all);
}

std::string get_prompt(const Reading& read, const Message& message) {
    const auto name = message.text("name");
    const auto* const prompt = std::ranges::find(prompts, name, &Prompt::name);
    if (prompt == std::end(prompts))
        throw RpcError(Code::invalid_params, "There is no prompt " + std::string(name) + ".");
    const std::string board = board_argument(message, *prompt);
    std::string text(prompt->text);
    text = replaced(text, "{of}", board.empty() ? "" : " of the board " + board);
    text = replaced(text, "{filter}", board.empty() ? "" : " (board_id: " + board + ")");
    json::array messages{message_of({{"type", "text"}, {"text", text}})};
    if (prompt->takes_board) {
        const auto shown = board_as_markdown(read, board);
        if (!shown)
            throw RpcError(Code::invalid_params, "There is no board " + board + " that you see.");
        messages.push_back(message_of(
            {{"type", "resource"},
             {"resource",
              {{"uri", "svc://boards/" + shown->id},
               {"mimeType", "text/markdown"},
               {"text", shown->text}}}}
        ));
    }
    return "\"description\":" + json::serialize(json::value(prompt->description)) +
           ",\"messages\":" + json::serialize(messages);
}

}  // namespace svc::mcp

#include "modules/mcp/resources.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace svc::mcp {

namespace {

constexpr std::string_view boards = "svc://boards/", cards = "svc://cards/", context = "/context";
constexpr std::size_t most_completions = 100;

struct ResourceUri {
    enum class Kind { board, card, context };
    Kind kind{};
    std::string id;
};

std::optional<ResourceUri> parsed(std::string_view uri) {
    ResourceUri found;
    if (uri.starts_with(boards)) {
        found.kind = ResourceUri::Kind::board;
        uri.remove_prefix(boards.size());
    } else if (uri.starts_with(cards)) {
        uri.remove_prefix(cards.size());
        found.kind = uri.ends_with(context) ? ResourceUri::Kind::context : ResourceUri::Kind::card;
        if (found.kind == ResourceUri::Kind::context) uri.remove_suffix(context.size());
    } else {
        return std::nullopt;
    }
    if (uri.empty() || uri.size() > 200 || uri.find_first_of("/?#") != uri.npos)
        return std::nullopt;
    const auto id = http::decode(uri, http::Decode::path);
    if (!id) return std::nullopt;
    found.id = *id;
    return found;
}

std::string text_of(const json::object& in, std::string_view member) {
    const auto* value = in.if_contains(member);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool begins_with(std::string_view text, std::string_view with) {
    return text.size() >= with.size() &&
           std::ranges::equal(text.substr(0, with.size()), with, [](char a, char b) {
               const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; };
               return lower(a) == lower(b);
           });
}

/// `- **ENG-42** Oil it (high, due 2026-06-19, Ada)`.
std::string line_of(const json::object& card) {
    std::string line = "- **" + text_of(card, "key") + "** " + text_of(card, "title");
    std::string notes;
    const auto add = [&](const std::string& note) {
        if (!note.empty()) (notes += notes.empty() ? "" : ", ") += note;
    };
    if (const auto priority = text_of(card, "priority"); priority != "none") add(priority);
    if (const auto due = text_of(card, "due"); !due.empty()) add("due " + due);
    if (const auto* all = card.if_contains("assignees"); all && all->is_array())
        for (const json::value& each : all->get_array())
            if (each.is_object()) add(text_of(each.get_object(), "name"));
    if (const auto* blocked = card.if_contains("blocked"); blocked && *blocked == true)
        add("waits for others");
    return line + (notes.empty() ? "" : " (" + notes + ")") + '\n';
}

std::string contents(std::string_view uri, const std::string& markdown) {
    json::object content{{"uri", uri}, {"mimeType", "text/markdown"}, {"text", markdown}};
    return "\"contents\":[" + json::serialize(content) + ']';
}

std::optional<std::string> card_as_markdown(const Reading& read, const std::string& id) {
    const auto card = read("get_card", {{"card_id", id}});
    const auto body = card ? read("get_card_markdown", {{"card_id", id}}) : std::nullopt;
    if (!body) return std::nullopt;
    std::string text = "# " + text_of(*card, "key") + ' ' + text_of(*card, "title") + "\n\n";
    text += line_of(*card).substr(2);
    if (const auto url = text_of(*card, "url"); !url.empty()) text += url + '\n';
    return text + '\n' + text_of(*body, "markdown");
}

json::array values_of(
    const std::optional<json::object>& page,
    std::string_view member,
    std::string_view begun,
    std::string_view also
) {
    json::array values;
    if (!page) return values;
    for (const json::value& each : page->at("results").as_array()) {
        const auto value = text_of(each.as_object(), member);
        if (values.size() < most_completions &&
            (begins_with(value, begun) || begins_with(text_of(each.as_object(), also), begun)))
            values.emplace_back(value);
    }
    return values;
}

json::array cards_like(const Reading& read, std::string_view begun) {
    const auto dash = begun.find('-');
    json::object query{{"page_size", 100}, {"sort", "updated"}};
    if (dash != begun.npos) query["board_id"] = begun.substr(0, dash);
    else if (!begun.empty()) query["text"] = begun;
    auto values = values_of(read("list_cards", query), "key", dash != begun.npos ? begun : "", "");
    if (!values.empty() || begun.empty() || dash != begun.npos) return values;
    return values_of(
        read("list_cards", {{"board_id", begun}, {"page_size", 100}}), "key", begun, ""
    );
}

}  // namespace

std::optional<json::object> Reading::operator()(std::string_view operation, json::object arguments)
    const {
    const Tool* tool = catalog_.find(operation, {});
    if (!tool) return std::nullopt;
    json::value given = std::move(arguments);
    try {
        names_.resolve(caller_, *tool, given);
    } catch (const Failure&) {
        return std::nullopt;
    }
    const Invoked invoked = call_.invoke({
        .operation = operation,
        .arguments = json::serialize(given),
        .surface = Surface::mcp,
        .may_wait = false,
    });
    if (invoked.status >= 400) return std::nullopt;
    return json::parse(invoked.body).as_object();
}

std::optional<FoundResource> find_resource(const Reading& read, std::string_view uri) {
    const auto named = parsed(uri);
    if (!named) return std::nullopt;
    const bool board = named->kind == ResourceUri::Kind::board;
    const auto found = board ? read("get_board", {{"board_id", named->id}})
                             : read("get_card", {{"card_id", named->id}});
    if (!found) return std::nullopt;
    const auto id = Uuid::parse(text_of(*found, "id"));
    const auto board_id = Uuid::parse(text_of(*found, board ? "id" : "board_id"));
    if (!id || !board_id) return std::nullopt;
    return FoundResource{*id, *board_id};
}

std::string list_resources(const Reading& read, const Message& message) {
    json::object query{{"page_size", 100}};
    if (const auto* cursor = message.find("cursor"); cursor && !cursor->is_null())
        query["start_cursor"] = *cursor;
    const bool first = !query.contains("start_cursor");
    const auto page = read("list_boards", query);
    if (!page && !first) throw RpcError(Code::invalid_params, "There is no such cursor.");
    json::array all;
    if (page)
        for (const json::value& each : page->at("results").as_array()) {
            const json::object& board = each.as_object();
            json::object resource{
                {"uri", std::string(boards) + text_of(board, "id")},
                {"name", text_of(board, "key")},
                {"title", text_of(board, "name")},
                {"mimeType", "text/markdown"}
            };
            if (const auto text = text_of(board, "description"); !text.empty())
                resource["description"] = text;
            all.push_back(std::move(resource));
        }
    std::string out = "\"resources\":" + json::serialize(all);
    const auto next = page ? text_of(*page, "next_cursor") : std::string();
    if (!next.empty()) write_text(next, out += ",\"nextCursor\":");
    return out;
}

std::string list_templates() {
    return R"("resourceTemplates":[)"
           R"({"uriTemplate":"svc://boards/{id}","name":"board","title":"Board",)"
           R"("description":"A board: its columns and the first cards of each. By id or key.",)"
           R"("mimeType":"text/markdown"},)"
           R"({"uriTemplate":"svc://cards/{id}","name":"card","title":"Card",)"
           R"("description":"A card with its body. By id or key, such as ENG-42.",)"
           R"("mimeType":"text/markdown"},)"
           R"({"uriTemplate":"svc://cards/{id}/context","name":"card-context",)"
           R"("title":"Work brief of a card",)"
           R"("description":"Everything needed to work on a card. By id or key.",)"
           R"("mimeType":"text/markdown"}])";
}

std::optional<std::string> read_resource(const Reading& read, std::string_view uri) {
    const auto named = parsed(uri);
    if (!named) return std::nullopt;
    std::optional<std::string> text;
    switch (named->kind) {
        case ResourceUri::Kind::board:
            if (auto board = board_as_markdown(read, named->id)) text = std::move(board->text);
            break;
        case ResourceUri::Kind::card: text = card_as_markdown(read, named->id); break;
        case ResourceUri::Kind::context:
            if (const auto brief = read("get_card_context", {{"card_id", named->id}}))
                text = text_of(*brief, "markdown");
    }
    if (!text) return std::nullopt;
    return contents(uri, *text);
}

std::optional<BoardText> board_as_markdown(const Reading& read, std::string_view board) {
    const auto snapshot = read("get_board_snapshot", {{"board_id", board}, {"page_size", 50}});
    if (!snapshot) return std::nullopt;
    const json::object& about = snapshot->at("board").as_object();
    std::string text = "# " + text_of(about, "key") + ' ' + text_of(about, "name") + '\n';
    if (const auto said = text_of(about, "description"); !said.empty()) text += '\n' + said + '\n';
    for (const json::value& each : snapshot->at("columns").as_array()) {
        const json::object& column = each.as_object();
        text += "\n## " + text_of(column, "name");
        if (const auto* count = column.if_contains("card_count"); count && count->is_int64())
            text += " (" + std::to_string(count->get_int64()) + ')';
        text += "\n\n";
        const auto* all = column.if_contains("cards");
        if (!all || !all->is_array()) continue;
        for (const json::value& card : all->get_array()) text += line_of(card.as_object());
        const auto* more = column.if_contains("next_cursor");
        if (more && more->is_string()) text += "- … and more, which list_cards has\n";
    }
    return BoardText{text_of(about, "id"), std::move(text)};
}

std::string complete(const Reading& read, const Message& message) {
    const auto* ref = message.find("ref");
    const auto* argument = message.find("argument");
    if (!ref || !ref->is_object() || !argument || !argument->is_object())
        throw RpcError(Code::invalid_params, "`ref` and `argument` have to be objects.");
    const auto type = text_of(ref->get_object(), "type");
    const auto uri = text_of(ref->get_object(), "uri");
    const auto name = text_of(argument->get_object(), "name");
    const auto begun = text_of(argument->get_object(), "value").substr(0, 200);
    json::array values;
    if (type == "ref/prompt" ? name == "board" : uri.starts_with(boards))
        values = values_of(read("list_boards", {{"page_size", 100}}), "key", begun, "name");
    else if (type == "ref/resource" && uri.starts_with(cards)) values = cards_like(read, begun);
    else if (type != "ref/prompt" && type != "ref/resource")
        throw RpcError(Code::invalid_params, "`ref.type` is ref/prompt or ref/resource.");
    const auto total = values.size();
    return "\"completion\":{\"values\":" + json::serialize(values) +
           ",\"total\":" + std::to_string(total) + ",\"hasMore\":false}";
}

}  // namespace svc::mcp

#include "modules/mcp/names.hpp"

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/card_ref.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace svc::mcp {

namespace {

constexpr std::size_t most_listed = 25;

struct NamedBoard {
    Uuid id;
    std::string key, name;
};
SVC_RECORD(NamedBoard, (id), (key), (name));

struct NamedColumn {
    Uuid id;
    Uuid board_id;
    std::string name, board_key;
};
SVC_RECORD(NamedColumn, (id), (board_id), (name), (board_key));

struct FoundBoard {
    Uuid board_id;
};
SVC_RECORD(FoundBoard, (board_id));

// A key is told from a name by nobody but the board that has it, so both are looked for. $5 null:
// all there are.
constexpr Sql find_boards{"mcp.find_boards", R"(
    SELECT b.id, b.key, b.name
    FROM boards b
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND NOT b.in_trash AND NOT b.is_archived
        AND ($5::text IS NULL OR b.key = upper($5) OR lower(b.name) = lower($5))
        AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( IS NOT NULL
    ORDER BY b.key = upper($5) DESC, b.name, b.id
    LIMIT 25)"};

// Of the board $6, or of all that the caller sees. $5 null: all there are.
constexpr Sql find_columns{"mcp.find_columns", R"(
    SELECT c.id, c.board_id, c.name, b.key AS board_key
    FROM boards b
    JOIN columns c ON c.org_id = $1 AND c.board_id = b.id AND NOT c.in_trash
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND NOT b.in_trash AND NOT b.is_archived
        AND ($6::uuid IS NULL OR b.id = $6)
        AND ($5::text IS NULL OR lower(c.name) = lower($5))
        AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( IS NOT NULL
    ORDER BY b.key, c.position, c.id
    LIMIT 25)"};

constexpr Sql board_of_column{"mcp.board_of_column", R"(
    SELECT board_id FROM columns WHERE org_id = $1 AND id = $2)"};

constexpr Sql board_of_card{"mcp.board_of_card", R"(
    SELECT board_id FROM cards WHERE org_id = $1 AND id = $2)"};

constexpr Sql board_of_key{"mcp.board_of_key", R"(
    SELECT id AS board_id FROM boards WHERE org_id = $1 AND key = $2)"};

bool is_name(const json::value* value) {
    return value && value->is_string() && !Uuid::parse(value->get_string());
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

/// `["arguments","queue","on_complete_column_id"]`.
std::string location(
    const std::vector<std::string>& path, const std::vector<std::size_t>& indices
) {
    std::string out = R"(["arguments")";
    std::size_t next = 0;
    for (const std::string& step : path) {
        out += ',';
        if (step == "[]") out += std::to_string(indices.at(next++));
        else write_text(step, out);
    }
    return out + ']';
}

/// One call's arguments, looked up in one transaction.
class Resolution {
public:
    Resolution(Tx& tx, const boards::BoardCaller& caller) : tx_(tx), caller_(caller) {}

    /// Boards come before the columns that are on them.
    void resolve(const Tool& tool, json::object& arguments) {
        for (const bool boards : {true, false})
            for (const NamedPlace& place : tool.input.places)
                if (place.board == boards) walk(place, arguments, 0, {});
        if (tool.input.board_by_column) add_board(arguments);
    }

private:
    void walk(
        const NamedPlace& place,
        json::object& in,
        std::size_t step,
        std::vector<std::size_t> indices
    ) {
        board_ = board_around(in);
        json::value* value = in.if_contains(place.path[step]);
        const bool last = step + 1 == place.path.size();
        const bool list = !last && place.path[step + 1] == "[]";
        if (!value) return;
        if (last) return put(place, *value, indices);
        if (!list) {
            if (auto* inner = value->if_object()) walk(place, *inner, step + 1, indices);
            return;
        }
        auto* elements = value->if_array();
        if (!elements) return;
        indices.push_back(0);
        for (json::value& each : *elements) {
            if (step + 2 == place.path.size()) put(place, each, indices);
            else if (auto* inner = each.if_object()) walk(place, *inner, step + 2, indices);
            ++indices.back();
        }
    }

    /// The board that the arguments around a column name, or that their card is on.
    std::optional<Uuid> board_around(const json::object& in) {
        if (const auto* board = in.if_contains("board_id"); board && board->is_string())
            return Uuid::parse(board->get_string());
        const auto* card = in.if_contains("card_id");
        const auto ref =
            card && card->is_string() ? boards::CardRef::parse(card->get_string()) : std::nullopt;
        if (!ref) return board_;
        const auto found = ref->id ? tx_.one<FoundBoard>(board_of_card, caller_.org, *ref->id)
                                   : tx_.one<FoundBoard>(board_of_key, caller_.org, ref->board_key);
        return found ? std::optional(found->board_id) : std::nullopt;
    }

    void put(const NamedPlace& place, json::value& value, const std::vector<std::size_t>& indices) {
        if (!is_name(&value)) return;
        const std::string name(value.get_string());
        const std::string key =
            (place.board || !board_ ? "" : board_->str()) + '\n' + (place.board ? "b" : "c") + name;
        auto& id = known_[key];
        if (!id) {
            const auto at = location(place.path, indices);
            id = place.board ? board_called(name, at) : column_called(name, at);
        }
        value = id->str();
    }

    Uuid board_called(const std::string& name, const std::string& at) {
        auto found = caller_.later<NamedBoard>(tx_, find_boards, std::optional(name)).all();
        std::string key = name;
        std::ranges::transform(key, key.begin(), [](char c) {
            return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        });
        if (found.size() == 1 || (!found.empty() && found.front().key == key))
            return found.front().id;
        const bool none = found.empty();
        if (none)
            found = caller_.later<NamedBoard>(tx_, find_boards, std::optional<std::string>()).all();
        std::string list;
        for (const NamedBoard& each : found)
            (list += list.empty() ? "" : ", ") += each.key + " " + quoted(each.name);
        refuse(none, "board", name, list, found.size(), at);
    }

    Uuid column_called(const std::string& name, const std::string& at) {
        auto found = columns(name);
        if (found.size() == 1) return found.front().id;
        const bool none = found.empty();
        if (none) found = columns(std::nullopt);
        std::string list;
        for (const NamedColumn& each : found) {
            (list += list.empty() ? "" : ", ") += quoted(each.name);
            if (!board_) list += " of " + each.board_key;
            if (!none) list += " (" + each.id.str() + ")";
        }
        refuse(none, "column", name, list, found.size(), at);
    }

    std::vector<NamedColumn> columns(const std::optional<std::string>& name) {
        return caller_.later<NamedColumn>(tx_, find_columns, name, board_).all();
    }

    [[noreturn]] static void refuse(
        bool none,
        std::string_view what,
        std::string_view name,
        const std::string& list,
        std::size_t listed,
        const std::string& at
    ) {
        std::string text = none ? "There is no " + std::string(what) + " " + quoted(name) + ". "
                                : "Several " + std::string(what) + "s are called " + quoted(name) +
                                      "; give an id. ";
        text += list.empty() ? "There are none that you see" : "There are: " + list;
        if (listed == most_listed) text += ", and perhaps others";
        throw Failure::invalid_at(at, none ? "unknown_name" : "ambiguous_name", text);
    }

    void add_board(json::object& arguments) {
        if (arguments.contains("board_id")) return;
        const auto* column = arguments.if_contains("column_id");
        const auto id =
            column && column->is_string() ? Uuid::parse(column->get_string()) : std::nullopt;
        if (!id) return;
        // Of a column that there is not, the operation says so.
        const auto found = tx_.one<FoundBoard>(board_of_column, caller_.org, *id);
        arguments["board_id"] = found ? found->board_id.str() : Uuid().str();
    }

    Tx& tx_;
    const boards::BoardCaller caller_;
    std::optional<Uuid> board_;
    std::map<std::string, std::optional<Uuid>> known_;
};

bool holds_name(const NamedPlace& place, const json::value& in, std::size_t step) {
    if (step == place.path.size()) return is_name(&in);
    if (place.path[step] == "[]") {
        const auto* elements = in.if_array();
        return elements && std::ranges::any_of(*elements, [&](const json::value& each) {
                   return holds_name(place, each, step + 1);
               });
    }
    const auto* object = in.if_object();
    const auto* value = object ? object->if_contains(place.path[step]) : nullptr;
    return value && holds_name(place, *value, step + 1);
}

bool needs_look(const Tool& tool, const json::value& arguments) {
    const json::object& given = arguments.get_object();
    if (tool.input.board_by_column && given.contains("column_id") && !given.contains("board_id"))
        return true;
    return std::ranges::any_of(tool.input.places, [&](const NamedPlace& place) {
        return holds_name(place, arguments, 0);
    });
}

}  // namespace

void Names::resolve(const Caller& caller, const Tool& tool, json::value& arguments) const {
    if (!caller.org_id) return;
    json::object& given = arguments.get_object();
    if (tool.input.names_org && !given.contains("org_id")) given["org_id"] = caller.org_id->str();
    if (!needs_look(tool, arguments)) return;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(caller.org_id, caller.user_id);
        Resolution(tx, boards::BoardCaller::of(caller, *caller.org_id)).resolve(tool, given);
    });
}

}  // namespace svc::mcp

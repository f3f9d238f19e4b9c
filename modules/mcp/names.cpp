#include "modules/mcp/names.hpp"

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/card_ref.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <ranges>

namespace svc::mcp {

namespace {

constexpr std::size_t most_listed = 25;
constexpr std::size_t most_names = 500;  // in one call; no operation takes as many

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
        AND ($5::text IS NULL OR b.key = upper($5)
            OR lower(b.name COLLATE "und-x-icu") = lower($5 COLLATE "und-x-icu"))
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
        AND ($5::text IS NULL
            OR lower(c.name COLLATE "und-x-icu") = lower($5 COLLATE "und-x-icu"))
        AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( IS NOT NULL
    ORDER BY b.key, c.position, c.id
    LIMIT 25)"};

struct NamedPerson {
    Uuid id;
    std::string name;
};
SVC_RECORD(NamedPerson, (id), (name));

// Those who are in the workspace; $3: only its agents.
constexpr Sql people_called{"mcp.people_called", R"(
    SELECT p.id, p.name
    FROM principals p
    WHERE p.org_id = $1 AND p.name_key = lower($2)
        AND (EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = p.id)
            OR NOT $3 AND EXISTS (
                SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = p.id))
    ORDER BY p.id
    LIMIT 25)"};

constexpr Sql some_people{"mcp.some_people", R"(
    SELECT p.id, p.name
    FROM principals p
    WHERE p.org_id = $1 AND p.name_key IS NOT NULL
        AND (EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = p.id)
            OR NOT $2 AND EXISTS (
                SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = p.id))
    ORDER BY p.name_key, p.id
    LIMIT 25)"};

constexpr Sql board_of_column{"mcp.board_of_column", R"(
    SELECT board_id FROM columns WHERE org_id = $1 AND id = $2)"};

// A board that the caller does not see is like none: what columns there are would tell of it.
constexpr std::string_view board_that = R"(
    SELECT b.id AS board_id
    FROM (
        SELECT o.id, o.visibility, o.created_by FROM boards o
        WHERE o.org_id = $1 AND)";
constexpr std::string_view has_card =
    " o.id = (SELECT c.board_id FROM cards c WHERE c.org_id = $1 AND c.id = $5)";
constexpr std::string_view has_key = " o.key = $5";
constexpr std::string_view and_is_seen = R"(
        OFFSET 0
    ) b
    )" SVC_BOARD_GRANT_BY_KEY("b.id") R"(
    WHERE )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( IS NOT NULL)";
constexpr Sql board_of_card{"mcp.board_of_card", SqlText<board_that, has_card, and_is_seen>::view};
constexpr Sql board_of_key{"mcp.board_of_key", SqlText<board_that, has_key, and_is_seen>::view};

bool is_name(const json::value& value) {
    return value.is_string() && !Uuid::parse(value.get_string());
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

/// A name among the arguments, and where it stands.
struct GivenName {
    json::value* value = nullptr;
    Named what{};
    std::vector<const json::object*> around{};  ///< outermost first
    std::string at{};                           ///< `["arguments","queue","on_complete_column_id"]`
};

/// Adds those that are at the place, of which `so_far` leads to `in`.
void find_names(
    const NamedPlace& place,
    std::size_t step,
    json::value& in,
    GivenName so_far,
    std::vector<GivenName>& out
) {
    if (step == place.path.size()) {
        if (!is_name(in)) return;
        so_far.value = &in;
        so_far.at += ']';
        out.push_back(std::move(so_far));
        return;
    }
    const std::string& name = place.path[step];
    if (name == "[]") {
        auto* elements = in.if_array();
        for (std::size_t i = 0; elements && i < elements->size(); ++i) {
            GivenName each = so_far;
            each.at += ',' + std::to_string(i);
            find_names(place, step + 1, (*elements)[i], std::move(each), out);
        }
        return;
    }
    auto* object = in.if_object();
    auto* value = object ? object->if_contains(name) : nullptr;
    if (!value) return;
    so_far.around.push_back(object);
    write_text(name, so_far.at += ',');
    find_names(place, step + 1, *value, std::move(so_far), out);
}

/// Boards come before the columns that are on them.
std::vector<GivenName> names_in(const Tool& tool, json::value& arguments) {
    std::vector<GivenName> names;
    for (const bool boards : {true, false})
        for (const NamedPlace& place : tool.input.places)
            if ((place.what == Named::board) == boards)
                find_names(
                    place, 0, arguments, {.what = place.what, .at = R"(["arguments")"}, names
                );
    return names;
}

/// One call's arguments, looked up in one transaction.
class Resolution {
public:
    Resolution(Tx& tx, const boards::BoardCaller& caller, const queue::LeaseTokens* lease_tokens)
        : tx_(tx), caller_(caller), lease_tokens_(lease_tokens) {}

    void put_id(const GivenName& given) {
        if (!is_name(*given.value)) return;  // the transaction is run again
        const std::string name(given.value->get_string());
        board_ = given.what == Named::column ? board_around(given) : std::nullopt;
        auto& id = found_[{given.what, board_, name}];
        if (!id) id = called(given, name);
        *given.value = id->str();
    }

    /// The board of the column that the arguments name.
    void add_board(json::object& arguments) {
        const json::value& column = arguments.at("column_id");
        const auto id = column.is_string() ? Uuid::parse(column.get_string()) : std::nullopt;
        if (!id) return;
        // Of a column that there is not, the operation says so.
        const auto found = tx_.one<FoundBoard>(board_of_column, caller_.org, *id);
        arguments["board_id"] = found ? found->board_id.str() : Uuid().str();
    }

private:
    /// One of those that may be meant.
    struct Candidate {
        Uuid id;
        std::string text;          ///< as it is listed
        bool goes_by_key = false;  ///< which is in the text
    };

    Uuid called(const GivenName& given, const std::string& name) {
        if (given.what == Named::person && name == "me") return caller_.principal;
        auto found = candidates(given.what, name);
        if (found.size() == 1) return found.front().id;
        const bool none = found.empty();
        if (none) found = candidates(given.what, std::nullopt);
        const std::string what(kind_of(given.what));
        std::string text =
            none ? "There is no " + what + ' ' + quoted(name) + ". "
                 : "More than one " + what + " is called " + quoted(name) + "; give an id. ";
        text +=
            found.empty() ? "There are none that you see" : "There are: " + listed(found, !none);
        if (found.size() == most_listed) text += ", and perhaps others";
        throw Failure::invalid_at(given.at, none ? "unknown_name" : "ambiguous_name", text);
    }

    static std::string_view kind_of(Named what) {
        switch (what) {
            case Named::board: return "board";
            case Named::column: return "column";
            case Named::person: return "person or agent";
            case Named::agent: break;
        }
        return "agent";
    }

    static std::string listed(const std::vector<Candidate>& found, bool by_id) {
        std::string list;
        for (const Candidate& each : found) {
            (list += list.empty() ? "" : ", ") += each.text;
            if (by_id && !each.goes_by_key) list += " (" + each.id.str() + ")";
        }
        return list;
    }

    /// Those that are called so; all there are when no name is given.
    std::vector<Candidate> candidates(Named what, const std::optional<std::string>& name) {
        switch (what) {
            case Named::board: return boards(name);
            case Named::column: return columns(name);
            case Named::person: return people(name, false);
            case Named::agent: break;
        }
        return people(name, true);
    }

    /// Whoever gives a key means the board that has it, whatever others are called.
    std::vector<Candidate> boards(const std::optional<std::string>& name) {
        std::string key = name.value_or("");
        std::ranges::transform(key, key.begin(), [](char c) {
            return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        });
        std::vector<Candidate> out;
        for (const auto& each : caller_.later<NamedBoard>(tx_, find_boards, name).all()) {
            out.push_back({each.id, each.key + ' ' + quoted(each.name), true});
            if (name && each.key == key) break;
        }
        return out;
    }

    std::vector<Candidate> columns(const std::optional<std::string>& name) {
        std::vector<Candidate> out;
        for (const auto& each : caller_.later<NamedColumn>(tx_, find_columns, name, board_).all())
            out.push_back({each.id, quoted(each.name) + (board_ ? "" : " of " + each.board_key)});
        return out;
    }

    std::vector<Candidate> people(const std::optional<std::string>& name, bool agents) {
        const auto found = name ? tx_.all<NamedPerson>(people_called, caller_.org, *name, agents)
                                : tx_.all<NamedPerson>(some_people, caller_.org, agents);
        std::vector<Candidate> out;
        for (const NamedPerson& each : found) out.push_back({each.id, quoted(each.name)});
        return out;
    }

    /// The board that the arguments around a column name, or that their card is on, or the card of
    /// their lease.
    std::optional<Uuid> board_around(const GivenName& column) {
        for (const json::object* each : column.around | std::views::reverse) {
            if (const auto* board = each->if_contains("board_id"); board && board->is_string())
                return Uuid::parse(board->get_string());
            if (const auto* card = each->if_contains("card_id"); card && card->is_string())
                if (const auto ref = boards::CardRef::parse(card->get_string()))
                    return board_of(*ref);
            const auto* token = each->if_contains("lease_token");
            if (!lease_tokens_ || !token || !token->is_string()) continue;
            if (const auto card = lease_tokens_->card_of(token->get_string()))
                return board_of(*card);
        }
        return std::nullopt;
    }

    std::optional<Uuid> board_of(const boards::CardRef& card) {
        auto later = card.id ? caller_.later<FoundBoard>(tx_, board_of_card, *card.id)
                             : caller_.later<FoundBoard>(tx_, board_of_key, card.board_key);
        const auto found = later.one();
        return found ? std::optional(found->board_id) : std::nullopt;
    }

    Tx& tx_;
    const boards::BoardCaller caller_;
    const queue::LeaseTokens* lease_tokens_;
    std::optional<Uuid> board_;  // of the column that is looked for
    std::map<std::tuple<Named, std::optional<Uuid>, std::string>, std::optional<Uuid>> found_;
};

}  // namespace

void Names::resolve(const Caller& caller, const Tool& tool, json::value& arguments) const {
    if (!caller.org_id) return;
    json::object& given = arguments.get_object();
    if (tool.input.names_org && !given.contains("org_id")) given["org_id"] = caller.org_id->str();
    const auto names = names_in(tool, arguments);
    const bool needs_board =
        tool.input.board_by_column && given.contains("column_id") && !given.contains("board_id");
    if (names.empty() && !needs_board) return;
    if (names.size() > most_names) return;  // the operation says that it is too much
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(caller.org_id, caller.user_id);
        Resolution look(tx, boards::BoardCaller::of(caller, *caller.org_id), lease_tokens_);
        for (const GivenName& each : names) look.put_id(each);
        if (needs_board) look.add_board(given);
    });
}

}  // namespace svc::mcp

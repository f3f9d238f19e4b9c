#include "modules/mcp/tool_schemas.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace svc::mcp {

namespace {

constexpr std::size_t longest_shape = 140;  // of an object's members, written into a description
constexpr std::size_t shortest_shape = 60;  // the same where there are many
constexpr std::size_t many_members = 20;
constexpr std::size_t longest_text = 100;  // of a parameter, beyond its first sentence
constexpr std::size_t most_choices = 10;
constexpr int names_alone = -1;

/// What means the same in every tool is said in a few words.
struct Shared {
    std::string_view name, description;
};
constexpr Shared shared[] = {
    {"board_id", "Board: id, key or name."},
    {"column_id", "Column: id or name."},
    {"target_column_id", "Column to move it to: id or name."},
    {"card_id", "Card: id or key (ENG-42)."},
    {"assignees", "People: ids, names or `me`."},
    {"assignee_id", "Assigned to: id, name or `me`."},
    {"page_size", "Most results: 25, up to 100."},
    {"start_cursor", "`next_cursor` of the page before."},
    {"expected_version", "Refuse unless its `version` is this."},
    {"lease_token", "Token of your lease."},
};

constexpr std::string_view board_names[] = {"board_id"};
constexpr std::string_view agent_names[] = {"agent_id"};
constexpr std::string_view person_names[] = {
    "assignees", "assignee_id", "principal_id", "holder_id", "user_id", "actor_id"
};
constexpr std::string_view column_names[] = {
    "column_id",
    "column_ids",
    "target_column_id",
    "move_cards_to",
    "on_complete_column_id",
    "on_exhausted_column_id"
};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::optional<Named> named_by(std::string_view member) {
    if (is_one_of(board_names, member)) return Named::board;
    if (is_one_of(column_names, member)) return Named::column;
    if (is_one_of(person_names, member)) return Named::person;
    if (is_one_of(agent_names, member)) return Named::agent;
    return std::nullopt;
}

// A client checks no more than this before it asks; the server says what else is wrong.
constexpr std::string_view unsaid[] = {
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "$defs"
};

bool holds(const json::value* list, std::string_view name) {
    return list && std::ranges::any_of(list->as_array(), [&](const json::value& each) {
               return std::string_view(each.as_string()) == name;
           });
}

class InputWriter {
public:
    explicit InputWriter(json::object whole) : whole_(std::move(whole)) {
        if (const auto* found = whole_.if_contains("$defs")) definitions_ = found->as_object();
    }

    ToolInput write(const Operation& operation) {
        ToolInput input;
        const auto* members = whole_.if_contains("properties");
        if (members && members->as_object().size() > many_members) room_ = shortest_shape;
        json::object properties;
        json::array required;
        if (members)
            for (const auto& [name, schema] : members->as_object()) {
                if (name == "org_id") {
                    input.names_org = true;
                    continue;
                }
                find_places(schema.as_object(), {std::string(name)}, input.places);
                properties[name] = shortened(name, schema.as_object());
            }
        input.board_by_column = requires_member("board_id") && requires_member("column_id");
        if (const auto* all = whole_.if_contains("required"))
            for (const json::value& each : all->as_array())
                if (each != "org_id" && !(input.board_by_column && each == "board_id"))
                    required.push_back(each);
        if (is_conditional(operation))
            properties["if_none_match"] = {
                {"type", "integer"}, {"description", "`version` you have; unchanged is said so."}
            };
        input.takes_fields = operation.read_only() && has_cards(operation.handler.output);
        if (input.takes_fields)
            properties["fields"] = {
                {"type", "array"}, {"description", "Members of cards to return."}
            };
        json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
        if (!required.empty()) schema["required"] = std::move(required);
        schema["additionalProperties"] = false;
        input.schema = json::serialize(schema);
        return input;
    }

private:
    bool requires_member(std::string_view name) const {
        return holds(whole_.if_contains("required"), name);
    }

    /// The schema itself, without a reference or the choice of null around it.
    json::object plain(const json::object& schema) const {
        if (const auto* ref = schema.if_contains("$ref")) {
            const std::string_view name = std::string_view(ref->as_string()).substr(8);
            json::object target = plain(definitions_.at(name).as_object());
            for (const auto& [key, value] : schema)
                if (key != "$ref") target[key] = value;
            return target;
        }
        const auto* choices = schema.if_contains("anyOf");
        if (!choices || choices->as_array().size() != 2) return schema;
        const auto* null = choices->as_array()[1].as_object().if_contains("type");
        if (!null || *null != "null") return schema;
        json::object target = plain(choices->as_array()[0].as_object());
        for (const auto& [key, value] : schema)
            if (key != "anyOf") target[key] = value;
        return target;
    }

    json::object shortened(std::string_view name, const json::object& from) const {
        json::object schema = plain(from);
        for (const std::string_view each : unsaid) schema.erase(each);
        if (const auto* all = schema.if_contains("additionalProperties"); all && !all->is_bool())
            schema.erase("additionalProperties");
        const auto* value = schema.if_contains("default");
        if (value && (*value == false || value->is_structured() || *value == ""))
            schema.erase("default");
        if (auto* text = schema.if_contains("description"))
            *text = first_of(std::string(text->as_string()));
        const auto* least = schema.if_contains("minimum");
        if (least && (*least == 0 || *least == 1)) schema.erase("minimum");
        say_members(schema);
        const auto* known = std::ranges::find(shared, name, &Shared::name);
        if (known == std::end(shared)) return schema;
        schema["description"] = known->description;
        for (const char* word : {"minimum", "maximum", "default"}) schema.erase(word);
        return schema;
    }

    /// What a long text says first.
    static std::string first_of(std::string text) {
        if (text.size() <= longest_text) return text;
        if (const auto end = text.find(". "); end != text.npos) text.resize(end + 1);
        return text;
    }

    /// Objects say what they hold in their description, which takes a fifth of what schemas take.
    void say_members(json::object& schema) const {
        std::string shape;
        if (schema.contains("properties") || schema.contains("anyOf")) {
            shape = shape_of(schema);
            for (const char* word : {"properties", "required", "additionalProperties", "anyOf"})
                schema.erase(word);
            if (!schema.contains("type") && shape.starts_with('{')) schema["type"] = "object";
        } else if (const auto* items = schema.if_contains("items")) {
            const json::object element = plain(items->as_object());
            json::object kept;
            if (element.contains("properties") || element.contains("anyOf")) {
                shape = "Each " + shape_of(element);
                if (element.contains("properties")) kept["type"] = "object";
            } else {
                for (const char* word : {"type", "enum"})
                    if (const auto* said = element.if_contains(word)) kept[word] = *said;
            }
            if (kept.empty()) schema.erase("items");
            else schema["items"] = std::move(kept);
        }
        if (shape.empty()) return;
        // Many members that mean the same each in its way say only what they hold.
        std::string text(room_ == shortest_shape ? "" : schema["description"].as_string());
        schema["description"] = text + (text.empty() ? "" : " ") + shape;
    }

    /// As deep as there is room for.
    std::string shape_of(const json::object& schema) const {
        for (int depth = 3; depth > 0; --depth)
            if (auto shape = shape_of(schema, depth); shape.size() <= room_) return shape;
        return schema.contains("properties") ? members_of(schema, names_alone) : "";
    }

    std::string shape_of(const json::object& from, int depth) const {
        const json::object schema = plain(from);
        if (const auto* choices = schema.if_contains("anyOf")) {
            std::string all;
            for (const json::value& each : choices->as_array())
                (all += all.empty() ? "" : " | ") += shape_of(each.as_object(), depth);
            return all;
        }
        if (const auto* names = schema.if_contains("enum")) return choices_of(names->as_array());
        if (schema.contains("properties"))
            return depth == 0 ? "object" : members_of(schema, depth - 1);
        const std::string type = type_of(schema);
        if (type != "array") return type == "string" ? "" : type;
        const auto* items = schema.if_contains("items");
        return '[' + (items ? shape_of(items->as_object(), depth) : "") + ']';
    }

    std::string members_of(const json::object& schema, int depth) const {
        const json::object& members = schema.at("properties").as_object();
        const auto* required = schema.if_contains("required");
        std::string all = "{";
        for (const auto& [name, member] : members) {
            if (all.size() > 1) all += ", ";
            all += name;
            if (depth == names_alone || members.size() > 12) continue;
            if (required && !holds(required, name)) all += '?';
            const std::string shape = depth == 0 && plain(member.as_object()).contains("properties")
                                          ? ""
                                          : shape_of(member.as_object(), depth);
            if (!shape.empty()) (all += ": ") += shape;
        }
        return all + '}';
    }

    static std::string choices_of(const json::array& names) {
        std::string all;
        if (names.size() > most_choices) return all;
        for (const json::value& each : names)
            if (each.is_string()) (all += all.empty() ? "" : "|") += each.get_string();
        return all;
    }

    static std::string type_of(const json::object& schema) {
        const auto* type = schema.if_contains("type");
        if (!type) return {};
        const json::value& first = type->is_array() ? type->get_array()[0] : *type;
        return std::string(first.as_string());
    }

    void find_places(
        const json::object& from, const std::vector<std::string>& path, std::vector<NamedPlace>& out
    ) const {
        if (path.size() > 4) return;
        const json::object schema = plain(from);
        const auto below = [&](std::string_view name, const json::object& inner) {
            auto longer = path;
            longer.emplace_back(name);
            find_places(inner, longer, out);
        };
        const std::string_view name = path.back() == "[]" ? path.at(path.size() - 2) : path.back();
        const auto what = named_by(name);
        const auto* format = schema.if_contains("format");
        if (what && format && *format == "uuid") out.push_back({path, *what});
        if (const auto* members = schema.if_contains("properties"))
            for (const auto& [key, member] : members->as_object()) below(key, member.as_object());
        if (const auto* items = schema.if_contains("items")) below("[]", items->as_object());
    }

    json::object whole_;
    json::object definitions_;
    std::size_t room_ = longest_shape;
};

}  // namespace

ToolInput input_of(const Kernel& kernel, const Operation& operation) {
    return InputWriter(json::parse(kernel.tool_schema(operation)).as_object()).write(operation);
}

bool has_etag(const Operation& operation) {
    const Codec* codec = operation.handler.output.codec;
    return codec && codec->record && codec->record().find("etag");
}

bool is_conditional(const Operation& operation) {
    return operation.read_only() && (operation.handler.output.versioned || has_etag(operation));
}

}  // namespace svc::mcp

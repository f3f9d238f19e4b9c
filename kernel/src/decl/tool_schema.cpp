// The schemas that agents and authors of scripts read before they call: complete, and as short as
// they can be.

#include "decl/json.hpp"
#include "decl/schema.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include <map>

namespace svc::decl {

namespace {

constexpr std::string_view prefix = "#/$defs/";

using Definitions = std::map<std::string, json::value>;

Definitions definitions_of(SchemaWriter& writer) {
    Definitions all;
    for (bool more = true; std::exchange(more, false);)
        for (const auto& [name, record] : std::map(writer.mentioned)) {
            if (all.contains(name)) continue;
            json::object schema;
            writer.record(*record, schema);
            all[name] = std::move(schema);
            more = true;
        }
    return all;
}

std::string target(const json::value& ref) {
    return std::string(std::string_view(ref.get_string()).substr(prefix.size()));
}

// Puts definitions that are used once where they are used.
class Inliner {
public:
    explicit Inliner(Definitions definitions) : definitions_(std::move(definitions)) {}

    void count(json::value& in) {
        each_ref(in, [&](json::value& ref) { ++uses_[target(ref)]; });
    }
    void run(json::value& root) {
        count(root);
        for (auto& [name, schema] : definitions_) count(schema);
        inline_in(root);
        json::object kept;
        for (auto& [name, schema] : definitions_) {
            if (uses_[name] == 1) continue;
            inline_in(schema);
            kept[name] = schema;
        }
        if (!kept.empty()) root.get_object()["$defs"] = std::move(kept);
    }

private:
    void inline_in(json::value& in) {
        if (auto* list = in.if_array())
            for (json::value& element : *list) inline_in(element);
        auto* object = in.if_object();
        if (!object) return;
        if (const auto* ref = object->if_contains("$ref")) put(*object, target(*ref));
        for (auto& [key, value] : *object) inline_in(value);
    }
    // A record within itself is used twice: there and from outside.
    void put(json::object& in, const std::string& name) {
        if (uses_[name] != 1) return;
        in.erase("$ref");
        json::object whole = definitions_[name].get_object();
        for (auto& [key, value] : in) whole[key] = std::move(value);
        in = std::move(whole);
    }

    Definitions definitions_;
    std::map<std::string, int> uses_;
};

// {"anyOf": [{"type": T}, {"type": "null"}]} is {"type": [T, "null"]}.
void shorten_nullable(json::object& schema) {
    const auto* any_of = schema.if_contains("anyOf");
    const auto* choices = any_of ? any_of->if_array() : nullptr;
    if (!choices || choices->size() != 2) return;
    const auto* null = choices->back().get_object().if_contains("type");
    json::object first = choices->front().get_object();
    auto* type = first.if_contains("type");
    if (!null || *null != "null" || !type || !type->is_string()) return;
    *type = json::array{*type, "null"};
    if (auto* names = first.if_contains("enum")) names->get_array().emplace_back(nullptr);
    schema.erase("anyOf");
    for (auto& [key, value] : schema) first[key] = std::move(value);
    schema = std::move(first);
}

void shorten(json::value& in) {
    if (auto* list = in.if_array())
        for (json::value& element : *list) shorten(element);
    auto* object = in.if_object();
    if (!object) return;
    shorten_nullable(*object);
    for (auto& [key, value] : *object) shorten(value);
}

std::string finished(json::object schema, Definitions definitions) {
    json::value root = std::move(schema);
    Inliner(std::move(definitions)).run(root);
    shorten(root);
    std::string text;
    write_value(root, text);
    return text;
}

/// Some fields of the record: of what changed.
json::object part_of(SchemaWriter& writer, const Record& record, std::string_view description) {
    json::object schema;
    object_schema(writer, record, schema, [](const Field& field) { return !field.rules.secret; });
    schema.erase("required");
    schema["description"] = description;
    return schema;
}

unsigned place_of(std::string_view field) {
    if (field == "board_id") return at::board;
    if (field == "column_id") return at::column;
    if (field == "card_id") return at::card;
    if (field == "parent_id") return at::parent;
    return field == "from" || field == "to" ? at::move : 0;
}

}  // namespace

std::string tool_schema(const Operation& operation) {
    SchemaWriter writer{.ref_prefix = prefix, .brief = true};
    json::object schema;
    writer.record(*operation.handler.input, schema);
    const auto add = [&](const Record& beside) {
        json::object field;
        writer.field(beside, beside.fields.front(), field);
        schema["properties"].as_object()[beside.fields.front().name] = std::move(field);
    };
    if (operation.versioned) add(record_of<VersionExpected>());
    if (operation.under_lease) add(record_of<LeaseNamed>());
    return finished(std::move(schema), definitions_of(writer));
}

std::string event_schema(const EventKind& kind) {
    SchemaWriter writer{.ref_prefix = prefix, .for_output = true};
    const Record& data = record_of<EventData>();
    json::object properties;
    json::array required;
    for (const Field& field : data.fields) {
        const unsigned place = place_of(field.name);
        if (place && !(kind.at & place)) continue;
        json::object schema;
        writer.field(data, field, schema);
        if (field.name == "object") schema["const"] = kind.object;
        if (place == at::move) {
            const json::value description = schema["description"];
            schema.clear();
            writer.reference(record_of<EventPlace>(), schema);
            schema["description"] = description;
        } else if (place) {
            schema = {{"type", "string"}, {"format", "uuid"}, {"description", field.rules.doc}};
        }
        if (field.name == "changes" || field.name == "previous")
            schema = part_of(writer, kind.record(), field.rules.doc);
        properties[field.name] = std::move(schema);
        if (place || !field.rules.omit_empty) required.emplace_back(field.name);
    }
    return finished(
        {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}},
        definitions_of(writer)
    );
}

std::string record_schema(const Record& record) {
    SchemaWriter writer{.ref_prefix = prefix, .for_output = true};
    json::object schema;
    writer.record(record, schema);
    return finished(std::move(schema), definitions_of(writer));
}

}  // namespace svc::decl

#include "modules/mcp/tool_schemas.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace svc::mcp {

namespace {

constexpr std::string_view prefix = "#/$defs/";

/// Whether the answer may leave the member out: what is null is not sent.
bool may_be_unset(const json::object& schema) {
    if (const auto* choices = schema.if_contains("anyOf"))
        return std::ranges::any_of(choices->as_array(), [](const json::value& each) {
            const auto* type = each.as_object().if_contains("type");
            return type && *type == "null";
        });
    return !schema.contains("type") && !schema.contains("$ref") && !schema.contains("const") &&
           !schema.contains("enum");
}

bool is_card(const json::object& properties) {
    const auto* object = properties.if_contains("object");
    const auto* kind = object ? object->as_object().if_contains("const") : nullptr;
    return kind && *kind == "card";
}

/// Whether slim() may leave the member out, be it set or not.
bool may_be_left_out(const json::object& properties, std::string_view name) {
    if (is_card(properties)) return name != "object" && name != "id" && name != "version";
    return name == "org_id";
}

/// Makes it the schema of what is sent here. What the members mean the OpenAPI document says.
void relax(json::value& in) {
    if (auto* list = in.if_array())
        for (json::value& each : *list) relax(each);
    auto* object = in.if_object();
    if (!object) return;
    if (const auto* said = object->if_contains("description"); said && said->is_string())
        object->erase("description");
    const auto* properties = object->if_contains("properties");
    if (auto* required = object->if_contains("required");
        properties && properties->is_object() && required && required->is_array()) {
        json::array kept;
        for (const json::value& name : required->get_array()) {
            const auto* member = properties->get_object().if_contains(name.as_string());
            if (member && !may_be_unset(member->as_object()) &&
                !may_be_left_out(properties->get_object(), name.as_string()))
                kept.push_back(name);
        }
        *required = std::move(kept);
    }
    for (auto& [key, value] : *object) relax(value);
}

/// Hands on the records that are mentioned, and those that are mentioned by that.
template <class Use>
void each_mentioned(SchemaWriter& writer, Use use) {
    std::set<std::string> seen;
    for (bool more = true; std::exchange(more, false);)
        for (const auto& [name, record] : std::map(writer.mentioned)) {
            if (!seen.insert(name).second) continue;
            use(*record);
            more = true;
        }
}

json::object done_schema() {
    return {
        {"type", "object"},
        {"properties", {{"done", {{"const", true}}}}},
        {"required", {"done"}},
        {"description", "It was done."}
    };
}

json::object page_schema(json::object item) {
    return {
        {"type", "object"},
        {"properties",
         {{"object", {{"const", "list"}}},
          {"results", {{"type", "array"}, {"items", std::move(item)}}},
          {"has_more", {{"type", "boolean"}}},
          {"next_cursor", {{"type", "string"}}}}},
        {"required", {"object", "results", "has_more"}}
    };
}

/// Without the definitions of what it mentions.
json::object root_of(const Operation& operation, SchemaWriter& writer) {
    const Output& output = operation.handler.output;
    if (!output.item && !output.codec) return done_schema();
    json::object root;
    if (output.item) {
        json::object item;
        writer.reference(*output.item, item);
        root = page_schema(std::move(item));
    } else if (output.codec->record) {
        writer.record(output.codec->record(), root);
    } else {
        output.codec->schema(writer, Rules{}, root);
        root["type"] = "object";
    }
    json::value relaxed = std::move(root);
    relax(relaxed);
    root = relaxed.as_object();
    if (is_conditional(operation)) {
        // What has not changed is not said again.
        root["required"] = {"object", has_etag(operation) ? "etag" : "version"};
        root["properties"].as_object()["not_modified"] = {
            {"const", true}, {"description", "It is at the version that you have."}
        };
    }
    return root;
}

/// True for a schema of any value at all, and for lists and maps of such.
bool takes_any_value(const json::object& schema) {
    if (const auto* choices = schema.if_contains("anyOf"))
        return std::ranges::any_of(choices->as_array(), [](const json::value& each) {
            return takes_any_value(each.as_object());
        });
    for (const char* inner : {"items", "additionalProperties"})
        if (const auto* elements = schema.if_contains(inner); elements && elements->is_object())
            return takes_any_value(elements->get_object());
    return std::ranges::none_of(
        std::initializer_list<const char*>{"type", "$ref", "enum", "const"},
        [&](const char* word) { return schema.contains(word); }
    );
}

}  // namespace

std::string output_of(const Operation& operation) {
    SchemaWriter writer{.ref_prefix = prefix, .for_output = true};
    json::object root = root_of(operation, writer);
    json::object definitions;
    each_mentioned(writer, [&](const Record& record) {
        json::object written;
        writer.record(record, written);
        json::value relaxed = std::move(written);
        relax(relaxed);
        definitions[record.name] = std::move(relaxed);
    });
    if (!definitions.empty()) root["$defs"] = std::move(definitions);
    return json::serialize(root);
}

std::string short_output_of(const Operation& operation) {
    const Output& output = operation.handler.output;
    if (output.item) return json::serialize(page_schema({{"type", "object"}}));
    SchemaWriter writer{.ref_prefix = prefix, .for_output = true};
    const json::object whole = root_of(operation, writer);
    if (!output.codec) return json::serialize(whole);
    json::object properties;
    json::array required;
    if (const auto* all = whole.if_contains("properties"))
        for (const char* name : {"object", "id", "version"})
            if (const auto* member = all->as_object().if_contains(name)) {
                json::object kept;
                for (const char* word : {"const", "type"})
                    if (const auto* said = member->as_object().if_contains(word))
                        kept[word] = *said;
                if (kept.contains("const")) kept.erase("type");
                properties[name] = std::move(kept);
            }
    if (const auto* all = whole.if_contains("required"))
        for (const json::value& name : all->as_array())
            if (properties.contains(name.as_string())) required.push_back(name);
    json::object root{{"type", "object"}};
    if (!properties.empty()) root["properties"] = std::move(properties);
    if (!required.empty()) root["required"] = std::move(required);
    return json::serialize(root);
}

bool has_cards(const Output& output) {
    SchemaWriter writer{.ref_prefix = prefix, .for_output = true};
    json::object ignored;
    if (output.item) writer.reference(*output.item, ignored);
    else if (output.codec && output.codec->record)
        writer.reference(output.codec->record(), ignored);
    bool found = false;
    each_mentioned(writer, [&](const Record& record) {
        json::object schema;
        writer.record(record, schema);
        const auto* members = schema.if_contains("properties");
        found = found || (members && is_card(members->as_object()));
    });
    return found;
}

std::set<std::string> opaque_members(const Output& output) {
    SchemaWriter writer{.ref_prefix = prefix, .for_output = true};
    json::object ignored;
    if (output.item) writer.reference(*output.item, ignored);
    else if (output.codec) output.codec->schema(writer, Rules{}, ignored);

    std::set<std::string> names;
    each_mentioned(writer, [&](const Record& record) {
        for (const Field& field : record.fields) {
            json::object schema;
            writer.field(record, field, schema);
            if (takes_any_value(schema)) names.emplace(field.name);
        }
    });
    return names;
}

}  // namespace svc::mcp

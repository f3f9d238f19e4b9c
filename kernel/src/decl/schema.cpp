// JSON Schema (2020-12), read off the same descriptions as everything else.

#include "decl/schema.hpp"

#include "decl/json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc {

namespace {

constexpr Rules no_rules;

// JSON Schema searches for a pattern; ours is about the whole text.
std::string anchored(std::string_view pattern) {
    decl::matches_whole(pattern, "");  // a wrong pattern shows here, not with a client
    if (pattern.starts_with('^') && pattern.ends_with('$')) return std::string(pattern);
    return "^(?:" + std::string(pattern) + ")$";
}

void text_bounds(const Rules& rules, json::object& out) {
    if (rules.shortest != no_rules.shortest) out["minLength"] = rules.shortest;
    if (rules.longest != no_rules.longest) out["maxLength"] = rules.longest;
    if (!rules.pattern.empty()) out["pattern"] = anchored(rules.pattern);
}

void number_bounds(const Rules& rules, json::object& out) {
    if (rules.lowest != no_rules.lowest) out["minimum"] = rules.lowest;
    if (rules.highest != no_rules.highest) out["maximum"] = rules.highest;
}

// Two modules may each hold a copy of one description; two descriptions under one name are a
// mistake that a client would pay for.
bool same_shape(const Record& a, const Record& b) {
    return std::ranges::equal(a.fields, b.fields, [](const Field& x, const Field& y) {
        return x.name == y.name && x.rules.doc == y.rules.doc &&
               x.rules.longest == y.rules.longest && x.rules.highest == y.rules.highest &&
               x.codec->may_be_absent == y.codec->may_be_absent;
    });
}

bool is_shown(const SchemaWriter& writer, const Field& field) {
    return writer.for_output || !writer.brief || !(field.rules.read_only || field.codec->constant);
}

bool is_required(const SchemaWriter& writer, const Field& field) {
    return writer.for_output ? !field.rules.omit_empty : field.required();
}

json::value default_of(const Record& owner, const Field& field) {
    std::string text;
    field.codec->write(field.in_const(owner.blank()), text);
    return decl::parse_strictly(text).value;
}

/// Generators of clients take a member with a `default` for one that requests have to name, so the
/// document tells it to people alone. Tools, whose models do read it, keep it.
void describe_default(json::object& schema) {
    const auto found = schema.find("default");
    if (found == schema.end()) return;
    std::string text(schema.at("description").as_string());
    text += " Default: `";
    decl::write_value(found->value(), text);
    text += "`.";
    schema.at("description") = text;
    schema.erase(found);
}

}  // namespace

void SchemaWriter::field(const Record& owner, const Field& field, json::object& out) {
    field.codec->schema(*this, field.rules, out);
    const auto doc = field.rules.doc;
    out["description"] = doc.empty() ? decl::describe_by_name(field.name) : doc;
    if (for_output) return;
    // That a list left out is empty goes without saying.
    const bool said = !brief || !field.codec->list;
    if (field.rules.defaulted && said) out["default"] = default_of(owner, field);
    if (field.rules.read_only) out["readOnly"] = true;
    if (field.rules.secret && !brief) out["writeOnly"] = true;
}

void decl::object_schema(
    SchemaWriter& writer,
    const Record& record,
    json::object& out,
    const std::function<bool(const Field&)>& includes
) {
    json::object properties;
    json::array required;
    each_declared(record, [&](const Record& owner, const Field& field) {
        if (!is_shown(writer, field) || !includes(field)) return;
        json::object schema;
        writer.field(owner, field, schema);
        if (!writer.brief) describe_default(schema);
        properties[field.name] = std::move(schema);
        if (is_required(writer, field)) required.emplace_back(field.name);
    });
    out["type"] = "object";
    out["properties"] = std::move(properties);
    if (!required.empty()) out["required"] = std::move(required);
    if (!writer.for_output) out["additionalProperties"] = false;
}

void SchemaWriter::record(const Record& record, json::object& out) {
    // One that is nothing but alternatives.
    if (record.fields.size() == 1 && record.fields[0].rules.flatten &&
        !record.fields[0].codec->record)
        return record.fields[0].codec->schema(*this, {}, out);
    decl::object_schema(*this, record, out, [](const Field&) { return true; });
}

void decl::each_ref(json::value& in, const std::function<void(json::value& ref)>& change) {
    if (auto* list = in.if_array()) {
        for (json::value& element : *list) each_ref(element, change);
    } else if (auto* object = in.if_object()) {
        for (auto& [key, value] : *object) {
            if (key == "$ref" && value.is_string()) change(value);
            else each_ref(value, change);
        }
    }
}

void SchemaWriter::reference(const Record& record, json::object& out) {
    const auto [known, added] = mentioned.emplace(record.name, &record);
    if (!added && known->second != &record && !same_shape(*known->second, record))
        throw std::logic_error("two records are called " + std::string(record.name));
    out["$ref"] = std::string(ref_prefix) + std::string(record.name);
}

void Json<bool>::schema(SchemaWriter&, const Rules&, json::object& out) { out["type"] = "boolean"; }

void Json<std::int64_t>::schema(SchemaWriter&, const Rules& rules, json::object& out) {
    out["type"] = "integer";
    number_bounds(rules, out);
}

void Json<double>::schema(SchemaWriter&, const Rules& rules, json::object& out) {
    out["type"] = "number";
    number_bounds(rules, out);
}

void Json<std::string>::schema(SchemaWriter&, const Rules& rules, json::object& out) {
    out["type"] = "string";
    text_bounds(rules, out);
}

void Json<Uuid>::schema(SchemaWriter&, const Rules&, json::object& out) {
    out["type"] = "string";
    out["format"] = "uuid";
}

void Json<Timestamp>::schema(SchemaWriter&, const Rules&, json::object& out) {
    out["type"] = "string";
    out["format"] = "date-time";
}

void Json<JsonText>::schema(SchemaWriter&, const Rules&, json::object&) {}  // anything

namespace detail {

void text_schema(std::string_view format, const Rules& rules, json::object& out) {
    out["type"] = "string";
    out["format"] = format;
    text_bounds(rules, out);
}

void literal_schema(std::string_view text, json::object& out) {
    out["type"] = "string";
    out["const"] = text;
}

void make_nullable(json::object& schema) {
    if (schema.empty()) return;  // anything includes null
    const json::object null{{"type", "null"}};
    if (schema.size() == 1 && schema.contains("anyOf")) {
        schema["anyOf"].get_array().push_back(null);
        return;
    }
    json::object inner = std::move(schema);
    schema = json::object();
    schema["anyOf"] = json::array{std::move(inner), null};
}

json::object& list_schema(const Rules& rules, json::object& out) {
    out["type"] = "array";
    if (rules.shortest != no_rules.shortest) out["minItems"] = rules.shortest;
    if (rules.longest != no_rules.longest) out["maxItems"] = rules.longest;
    return out["items"].emplace_object();
}

json::object& map_schema(const Rules& rules, json::object& out) {
    out["type"] = "object";
    if (rules.shortest != no_rules.shortest) out["minProperties"] = rules.shortest;
    if (rules.longest != no_rules.longest) out["maxProperties"] = rules.longest;
    return out["additionalProperties"].emplace_object();
}

void enum_schema(std::span<const std::string_view> names, json::object& out) {
    out["type"] = "string";
    out["enum"] = json::array(names.begin(), names.end());
}

void any_of_schema(SchemaWriter& writer, std::span<const Codec* const> codecs, json::object& out) {
    json::array each;
    for (const Codec* codec : codecs) {
        json::object schema;
        codec->schema(writer, {}, schema);
        each.push_back(std::move(schema));
    }
    out["anyOf"] = std::move(each);
}

}  // namespace detail

}  // namespace svc

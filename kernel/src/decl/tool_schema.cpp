// The schema that agents read before they call: complete, and as short as it can be.

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

}  // namespace

std::string tool_schema(const Operation& operation) {
    SchemaWriter writer{.ref_prefix = prefix, .brief = true};
    json::object schema;
    writer.record(*operation.handler.input, schema);
    json::value root = std::move(schema);
    Inliner(definitions_of(writer)).run(root);
    shorten(root);
    std::string text;
    write_value(root, text);
    return text;
}

}  // namespace svc::decl

// Examples of what operations take and answer, for people to begin with: what a test has sent and
// got. A body of which nothing is recorded has what is required, or else the first thing that says
// something, read off the schemas, so that it fits them.

#include "decl/openapi.hpp"
#include "decl/reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc::decl {

namespace {

struct Known {
    std::string_view name, text;
};

constexpr Known by_format[] = {
    {"uuid", "0197a3c0-5f3e-7c1b-9a52-1f0f6f8f3b11"},
    {"date-time", "2099-06-19T10:00:00Z"},
    {"date", "2099-06-19"},
    {"email", "ada@example.com"},
    {"uri", "https://example.com/parcels"},
};

constexpr Known by_name[] = {
    {"name", "Parcels"},
    {"title", "Pack the teapot"},
    {"query", "teapot"},
    {"find", "teapot"},
    {"markdown", "Fragile. **This side up.**"},
    {"content", "Fragile."},
    {"filename", "teapot.png"},
    {"content_type", "image/png"},
    {"password", "correct horse battery"},
    {"new_password", "a longer horse battery"},
    {"current_password", "correct horse battery"},
};

// For fields with a pattern: the first that matches.
constexpr std::string_view patterned[] = {"parcels", "PAR", "en-GB", "Europe/Zurich", "#1f6feb"};

class Examples {
public:
    explicit Examples(const json::object& schemas) : schemas_(schemas) {}

    json::value of(const json::value& schema, std::string_view name = {}, int depth = 0) const {
        const json::object& object = resolved(schema);
        if (const auto* constant = object.if_contains("const")) return *constant;
        if (const auto* names = object.if_contains("enum")) return names->as_array().front();
        if (const auto* choices = object.if_contains("anyOf"))
            return of(choices->as_array().front(), name, depth);
        const std::string_view type = type_of(object);
        if (type == "object") return record(object, depth);
        if (type == "array") return json::array{of(object.at("items"), name, depth + 1)};
        if (type == "string") return text(object, name);
        if (type == "boolean") return true;
        if (type == "integer" || type == "number") return number(object);
        return json::object();
    }

private:
    /// Behind references, and of several choices the first: null is never that.
    const json::object& resolved(const json::value& schema) const {
        const json::object& object = schema.as_object();
        const auto* ref = object.if_contains("$ref");
        if (!ref) return object;
        const std::string_view whole = ref->as_string();
        return resolved(schemas_.at(whole.substr(whole.rfind('/') + 1)));
    }

    static std::string_view type_of(const json::object& schema) {
        const auto* type = schema.if_contains("type");
        return type ? std::string_view(type->as_string()) : std::string_view();
    }

    json::object record(const json::object& schema, int depth) const {
        json::object out;
        const auto* properties = schema.if_contains("properties");
        if (!properties || depth > deepest) return out;
        const json::object& fields = properties->as_object();
        if (const auto* required = schema.if_contains("required"))
            for (const auto& each : required->as_array()) {
                const std::string_view name = each.as_string();
                out[name] = of(fields.at(name), name, depth + 1);
            }
        if (!out.empty()) return out;
        const json::key_value_pair* best = nullptr;
        for (const auto& field : fields)
            if (rank(field.value()) > (best ? rank(best->value()) : 0)) best = &field;
        if (best) out[best->key()] = of(best->value(), best->key(), depth + 1);
        return out;
    }

    /// How much a field says about a body in which none is required; 0: nothing.
    int rank(const json::value& schema) const {
        const json::object& outer = schema.as_object();
        if (outer.contains("readOnly") || outer.contains("writeOnly")) return 0;
        const json::object& within = resolved(schema);
        if (const auto* choices = within.if_contains("anyOf"))
            return rank(choices->as_array().front());
        const std::string_view type = type_of(within);
        if (within.contains("enum")) return 2;
        if (type == "boolean") return 1;
        if (type == "array") return 3;
        if (type == "object") return within.contains("properties") ? 4 : 0;
        if (type != "string") return 0;
        return within.contains("format") && within.at("format") == "uuid" ? 0 : 5;
    }

    static json::value text(const json::object& schema, std::string_view name) {
        const auto find = [](const auto& known, std::string_view key) -> std::string_view {
            const auto found = std::ranges::find(known, key, &Known::name);
            return found == std::end(known) ? std::string_view() : found->text;
        };
        if (const auto* format = schema.if_contains("format"))
            if (const auto known = find(by_format, format->as_string()); !known.empty())
                return json::value(known);
        if (const auto* pattern = schema.if_contains("pattern")) {
            for (const std::string_view each : patterned)
                if (matches_whole(pattern->as_string(), each)) return json::value(each);
            throw std::logic_error("no example matches " + std::string(pattern->as_string()));
        }
        std::string out(find(by_name, name));
        if (out.empty()) out = "The " + std::string(name);
        std::ranges::replace(out, '_', ' ');
        return json::value(of_length(schema, std::move(out)));
    }

    static std::string of_length(const json::object& schema, std::string text) {
        const auto bound = [&](std::string_view name, std::size_t otherwise) {
            const auto* given = schema.if_contains(name);
            return given ? given->to_number<std::size_t>() : otherwise;
        };
        text.resize(std::clamp(text.size(), bound("minLength", 0), bound("maxLength", 200)), '.');
        return text;
    }

    static json::value number(const json::object& schema) {
        const auto* least = schema.if_contains("minimum");
        const std::int64_t lowest = least ? least->to_number<std::int64_t>() : 1;
        return std::max<std::int64_t>(lowest, 1);
    }

    static constexpr int deepest = 8;
    const json::object& schemas_;
};

/// The content of a body or an answer; null when it has none.
json::object* json_content(json::object& of) {
    auto* content = of.if_contains("content");
    return content ? &content->at("application/json").as_object() : nullptr;
}

void add_recorded(json::object& operation, const json::object& recorded) {
    if (auto* parameters = operation.if_contains("parameters"))
        for (json::value& each : parameters->as_array()) {
            json::object& parameter = each.as_object();
            const auto* name = parameter.if_contains("name");
            if (!name) continue;
            for (const char* place : {"path", "query", "headers"})
                if (const auto* sent = recorded.if_contains(place))
                    if (const auto* value = sent->as_object().if_contains(name->as_string()))
                        parameter["example"] = *value;
        }
    if (const auto* body = recorded.if_contains("body"))
        json_content(operation.at("requestBody").as_object())->insert_or_assign("example", *body);
    const auto* answer = recorded.if_contains("answer");
    const auto status = std::to_string(recorded.at("status").as_int64());
    auto* response = operation.at("responses").as_object().if_contains(status);
    if (auto* content = answer && response ? json_content(response->as_object()) : nullptr)
        content->insert_or_assign("example", *answer);
}

}  // namespace

void add_examples(json::value& paths, const json::object& schemas, const std::string& recorded) {
    const Examples examples(schemas);
    const json::value known = recorded.empty() ? json::object() : json::parse(recorded);
    for (auto& [path, methods] : paths.as_object())
        for (auto& [method, entry] : methods.as_object()) {
            json::object& operation = entry.as_object();
            if (auto* body = operation.if_contains("requestBody")) {
                json::object& content = *json_content(body->as_object());
                content["example"] = examples.of(content.at("schema"));
            }
            const auto& name = operation.at("operationId").as_string();
            if (const auto* step = known.as_object().if_contains(name))
                add_recorded(operation, step->as_object());
        }
}

}  // namespace svc::decl

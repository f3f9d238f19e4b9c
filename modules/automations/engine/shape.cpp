#include "modules/automations/engine/shape.hpp"

#include "svc/types.hpp"

#include <algorithm>

namespace svc::automations {

namespace json = boost::json;

namespace {

/// Holds a value against a schema, whose `$ref`s are to be found in `root`.
class Shape {
public:
    explicit Shape(const json::value& root) : root_(root) {}

    std::string misfit(
        const json::value& value, const json::object& schema, const std::string& place
    ) const {
        if (const json::value* ref = schema.if_contains("$ref"))
            return misfit(value, target(ref->as_string()), place);
        for (const char* several : {"anyOf", "oneOf"})
            if (const json::value* choices = schema.if_contains(several))
                return of_any(value, choices->as_array(), place);
        if (const json::value* wanted = schema.if_contains("const"); wanted && *wanted != value)
            return place + " is always " + json::serialize(*wanted);
        if (const json::value* names = schema.if_contains("enum");
            names && std::ranges::find(names->as_array(), value) == names->as_array().end())
            return place + " is one of " + json::serialize(*names);
        if (const json::value* type = schema.if_contains("type"); type && !is_of(value, *type))
            return place + " is of the type " + json::serialize(*type);
        if (value.is_string()) return of_text(value.get_string(), schema, place);
        if (value.is_array()) return of_list(value.get_array(), schema, place);
        if (value.is_object()) return of_object(value.get_object(), schema, place);
        return {};
    }

private:
    const json::object& target(const json::string& ref) const {
        const auto name = std::string_view(ref).substr(std::string_view("#/$defs/").size());
        return root_.as_object().at("$defs").as_object().at(name).as_object();
    }

    std::string of_any(
        const json::value& value, const json::array& choices, const std::string& place
    ) const {
        std::string first;
        for (const json::value& each : choices) {
            std::string problem = misfit(value, each.as_object(), place);
            if (problem.empty()) return {};
            if (first.empty()) first = std::move(problem);
        }
        return first;
    }

    static bool is_one(const json::value& value, std::string_view type) {
        if (type == "null") return value.is_null();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_bool();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        if (type == "integer") return value.is_int64() || value.is_uint64();
        return value.is_number();
    }
    static bool is_of(const json::value& value, const json::value& type) {
        if (type.is_string()) return is_one(value, std::string_view(type.get_string()));
        return std::ranges::any_of(type.as_array(), [&](const json::value& each) {
            return is_one(value, std::string_view(each.as_string()));
        });
    }

    static std::string of_text(
        const json::string& text, const json::object& schema, const std::string& place
    ) {
        const json::value* format = schema.if_contains("format");
        if (!format) return {};
        if (*format == "uuid" && !Uuid::parse(std::string_view(text))) return place + " is a UUID";
        if (*format == "date-time" && !Timestamp::parse(std::string_view(text)))
            return place + " is a time such as 2026-01-31T12:00:00.000Z";
        return {};
    }

    std::string of_list(
        const json::array& list, const json::object& schema, const std::string& place
    ) const {
        const json::value* items = schema.if_contains("items");
        for (std::size_t i = 0; items && i < list.size(); ++i)
            if (std::string problem =
                    misfit(list[i], items->as_object(), place + "[" + std::to_string(i) + "]");
                !problem.empty())
                return problem;
        return {};
    }

    std::string of_object(
        const json::object& object, const json::object& schema, const std::string& place
    ) const {
        const json::value* properties = schema.if_contains("properties");
        const json::value* others = schema.if_contains("additionalProperties");
        if (!properties && !(others && others->is_object())) return {};
        for (const auto& [key, member] : object) {
            const std::string there =
                place.empty() ? std::string(key) : place + "." + std::string(key);
            const json::value* known =
                properties ? properties->as_object().if_contains(key) : nullptr;
            if (!known && others && others->is_object()) known = others;
            if (!known) return there + " is unknown";
            if (std::string problem = misfit(member, known->as_object(), there); !problem.empty())
                return problem;
        }
        return {};
    }

    const json::value& root_;
};

}  // namespace

std::string misfit(const json::value& value, const json::value& schema, const std::string& place) {
    return Shape(schema).misfit(value, schema.as_object(), place);
}

}  // namespace svc::automations

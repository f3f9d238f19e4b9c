#pragma once

#include "svc/types.hpp"
#include "tests/support/client.hpp"

#include <functional>
#include <set>

/// The interface as its own document describes it: every operation, and bodies that fit it.
namespace svc::test {

namespace json = boost::json;

struct Parameter {
    std::string name;
    json::value schema;
};

/// What a parameter that is no id may be.
inline std::string word(const Parameter& parameter) {
    const auto* schema = parameter.schema.if_object();
    const auto* choice = schema ? schema->if_contains("enum") : nullptr;
    return choice ? std::string(choice->as_array().front().as_string()) : "sample";
}

/// An id is called one, or has the form of one.
inline bool is_id(const Parameter& parameter) {
    const auto* schema = parameter.schema.if_object();
    const auto* format = schema ? schema->if_contains("format") : nullptr;
    return parameter.name.ends_with("_id") || (format && *format == "uuid");
}

struct Described {
    std::string name, method, path;  ///< `path` with its {parameters}
    std::string access;              ///< what the description says of it
    bool for_anyone = false;
    bool under_lease = false;
    std::vector<Parameter> in_path;
    std::vector<Parameter> in_query;  ///< those it cannot do without
    std::optional<json::value> body;  ///< its schema
    int status = 200;                 ///< when it goes well

    /// With a value for each parameter.
    std::string at(const std::map<std::string, std::string>& values) const {
        std::string out = path;
        for (const Parameter& each : in_path) {
            const auto place = out.find('{' + each.name + '}');
            out.replace(place, each.name.size() + 2, values.at(each.name));
        }
        for (const Parameter& each : in_query)
            out += (out.find('?') == out.npos ? '?' : '&') + each.name + '=' + word(each);
        return out;
    }
};

class Interface {
public:
    explicit Interface(json::value document) : document_(std::move(document)) {
        for (const auto& [path, methods] : document_.at("paths").as_object())
            for (const auto& [method, operation] : methods.as_object())
                if (const auto* each = operation.if_object(); each && each->contains("operationId"))
                    operations_.push_back(read(path, method, *each));
    }
    const std::vector<Described>& operations() const { return operations_; }

    /// What names things: ids of this workspace by what they are called.
    using Ids = std::function<std::optional<std::string>(const std::string& name)>;
    enum class Fields { required, all };
    /// Something that fits the schema, as small or as large as it may be.
    json::value sample(const json::value& schema, Fields fields, const Ids& ids) const {
        return sample(schema, fields, ids, "", 0);
    }

private:
    Described read(std::string_view path, std::string_view method, const json::object& from) const {
        Described out{
            .name = text(from, "operationId"), .method = upper(method), .path = std::string(path)};
        const std::string description = text(from, "description");
        out.access = description.substr(description.find("**Access:**"));
        if (const auto* security = from.if_contains("security"))
            out.for_anyone = security->as_array().empty();
        if (const auto* list = from.if_contains("parameters"))
            for (const auto& each : list->as_array()) {
                const auto& parameter = resolve(each).as_object();
                out.under_lease = out.under_lease || text(parameter, "name") == "X-Svc-Lease";
                if (text(parameter, "in") == "path")
                    out.in_path.push_back({text(parameter, "name"), parameter.at("schema")});
                if (text(parameter, "in") == "query" && parameter.at("required").as_bool())
                    out.in_query.push_back({text(parameter, "name"), parameter.at("schema")});
            }
        if (const auto* body = from.if_contains("requestBody"))
            out.body = body->at_pointer("/content/application~1json/schema");
        for (const auto& [status, ignored] : from.at("responses").as_object())
            if (status.starts_with("2") || status.starts_with("3")) {
                out.status = std::stoi(std::string(status));
                break;
            }
        return out;
    }

    static std::string text(const json::object& from, std::string_view key) {
        return std::string(from.at(key).as_string());
    }
    static std::string upper(std::string_view text) {
        std::string out;
        for (const char each : text)
            out += static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
        return out;
    }
    const json::value& resolve(const json::value& schema) const {
        const auto* object = schema.if_object();
        const auto* ref = object ? object->if_contains("$ref") : nullptr;
        return ref ? resolve(document_.at_pointer(std::string(ref->as_string()).substr(1)))
                   : schema;
    }

    json::value sample(
        const json::value& given, Fields fields, const Ids& ids, const std::string& name, int depth
    ) const {
        const json::value& schema = resolve(given);
        const auto* object = schema.if_object();
        if (!object || depth > 6) return nullptr;
        if (const auto* constant = object->if_contains("const")) return *constant;
        if (const auto* values = object->if_contains("enum")) return values->as_array().front();
        for (const auto* choice : {"anyOf", "oneOf", "allOf"})
            if (const auto* list = object->if_contains(choice))
                return sample(list->as_array().front(), fields, ids, name, depth + 1);
        const std::string type = type_of(*object);
        if (type == "object") return sample_object(*object, fields, ids, depth);
        if (type == "array") return sample_array(*object, fields, ids, name, depth);
        if (type == "string") return sample_text(*object, ids, name);
        if (type == "boolean") return false;
        if (type == "integer" || type == "number") {
            const auto* least = object->if_contains("minimum");
            return least ? *least : json::value(1);
        }
        return json::object{};
    }
    static std::string type_of(const json::object& schema) {
        const auto* type = schema.if_contains("type");
        if (!type) return schema.contains("properties") ? "object" : "";
        if (const auto* list = type->if_array()) return std::string(list->front().as_string());
        return std::string(type->as_string());
    }
    json::value sample_object(const json::object& schema, Fields fields, const Ids& ids, int depth)
        const {
        std::set<std::string> required;
        if (const auto* list = schema.if_contains("required"))
            for (const auto& each : list->as_array()) required.emplace(each.as_string().c_str());
        json::object out;
        if (const auto* properties = schema.if_contains("properties"))
            for (const auto& [name, each] : properties->as_object())
                if (fields == Fields::all || required.contains(std::string(name)))
                    out[name] = sample(each, fields, ids, std::string(name), depth + 1);
        return out;
    }
    json::value sample_array(
        const json::object& schema,
        Fields fields,
        const Ids& ids,
        const std::string& name,
        int depth
    ) const {
        json::array out;
        const auto* least = schema.if_contains("minItems");
        const auto* items = schema.if_contains("items");
        if (items && least && least->to_number<int>() > 0)
            out.push_back(sample(*items, fields, ids, name, depth + 1));
        return out;
    }
    static json::value sample_text(
        const json::object& schema, const Ids& ids, const std::string& name
    ) {
        const auto* format = schema.if_contains("format");
        const std::string_view is = format ? std::string_view(format->as_string()) : "";
        if (is == "uuid") return ids(name).value_or(new_uuid().str()).c_str();
        if (is == "date-time") return "2120-01-01T00:00:00Z";
        if (is == "date") return "2120-01-01";
        if (is == "uri") return "https://example.com/hook";
        if (is == "email") {
            const std::string address = new_uuid().str() + "@example.com";
            return address.c_str();
        }
        const auto* least = schema.if_contains("minLength");
        std::string text = "sample";
        if (least)
            text.resize(std::max<std::size_t>(text.size(), least->to_number<unsigned>()), 'e');
        if (const auto* most = schema.if_contains("maxLength"))
            text.resize(std::min<std::size_t>(text.size(), most->to_number<unsigned>()));
        return text.c_str();
    }

    json::value document_;
    std::vector<Described> operations_;
};

}  // namespace svc::test

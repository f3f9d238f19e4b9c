#pragma once

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace svc::test {

/// The fields anywhere in a JSON Schema, or in a document of schemas, that say nothing of
/// themselves. Names of fields that are `properties` of a schema themselves are no trouble: what
/// is looked at is an object under that name whose values are schemas.
inline void find_undescribed(
    const boost::json::value& in, const std::string& at, std::vector<std::string>& out, int& seen
) {
    if (const auto* list = in.if_array()) {
        for (const auto& each : *list) find_undescribed(each, at, out, seen);
        return;
    }
    const auto* object = in.if_object();
    if (!object) return;
    const auto* type = object->if_contains("type");
    const bool is_schema = type && (*type == "object" || type->is_array());
    for (const auto& [key, value] : *object) {
        const std::string below = at + '/' + std::string(key);
        find_undescribed(value, below, out, seen);
        if (key != "properties" || !is_schema || !value.is_object()) continue;
        for (const auto& [name, schema] : value.get_object()) {
            ++seen;
            const auto* text =
                schema.is_object() ? schema.get_object().if_contains("description") : nullptr;
            if (!text || !text->is_string() || text->get_string().empty())
                out.push_back(below + '/' + std::string(name));
        }
    }
}

}  // namespace svc::test

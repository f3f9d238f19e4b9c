#include "modules/boards/lib/file_values.hpp"
#include "modules/boards/api/named_cards.hpp"

#include <boost/json.hpp>

namespace svc::boards {

namespace json = boost::json;

namespace {

/// The list of files that a property holds; null when it holds something else.
json::array* list_in(json::value& property) {
    json::object& whole = property.as_object();
    return whole.at("type") == "files" ? &whole.at("files").as_array() : nullptr;
}

std::optional<Uuid> id_of(const json::value& file) {
    return Uuid::parse(file.at("file_id").as_string());
}

}  // namespace

// In a text somebody wrote the quotes are escaped.
bool has_files(std::string_view properties) {
    return properties.find(R"("file_id":)") != properties.npos;
}

std::string with_links(
    const std::string& properties, const std::function<std::string(const Uuid& file)>& link
) {
    json::value all = json::parse(properties);
    for (auto& [name, property] : all.as_object())
        if (json::array* files = list_in(property))
            for (json::value& each : *files)
                if (const auto id = id_of(each)) each.as_object()["url"] = link(*id);
    return json::serialize(all);
}

std::vector<Uuid> files_in(const std::string& properties) {
    std::vector<Uuid> ids;
    if (!has_files(properties)) return ids;
    json::value all = json::parse(properties);
    for (auto& [name, property] : all.as_object())
        if (const json::array* files = list_in(property))
            for (const json::value& each : *files)
                if (const auto id = id_of(each)) ids.push_back(*id);
    return ids;
}

std::string without_files(
    const std::string& properties, const std::function<bool(const Uuid& file)>& goes
) {
    const json::value all = json::parse(properties);
    json::object left;
    for (const auto& [name, value] : all.as_object()) {
        json::value property = value;
        if (json::array* files = list_in(property)) {
            json::array staying;
            for (json::value& each : *files)
                if (const auto id = id_of(each); id && !goes(*id))
                    staying.push_back(std::move(each));
            if (staying.empty()) continue;
            *files = std::move(staying);
        }
        left[name] = std::move(property);
    }
    return json::serialize(left);
}

}  // namespace svc::boards

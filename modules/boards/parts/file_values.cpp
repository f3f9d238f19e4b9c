#include "modules/boards/parts/file_values.hpp"

#include <boost/json.hpp>

namespace svc::boards {

// In a text somebody wrote the quotes are escaped.
bool has_files(std::string_view properties) {
    return properties.find(R"("file_id":)") != properties.npos;
}

std::string with_links(
    const std::string& properties, const std::function<std::string(const Uuid& file)>& link
) {
    namespace json = boost::json;
    json::value all = json::parse(properties);
    for (auto& [name, value] : all.as_object()) {
        json::object& property = value.as_object();
        if (property.at("type") != "files") continue;
        for (json::value& each : property.at("files").as_array()) {
            json::object& file = each.as_object();
            const auto id = Uuid::parse(file.at("file_id").as_string());
            if (id) file["url"] = link(*id);
        }
    }
    return json::serialize(all);
}

}  // namespace svc::boards

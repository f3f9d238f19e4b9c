#include "modules/boards/lib/value_text.hpp"

#include <boost/json.hpp>

namespace svc::boards {

namespace {

/// The first of these members that is text: what people call the thing.
std::string name_in(const json::object& thing) {
    for (const char* key : {"name", "plain_text", "start", "id", "file_id"})
        if (const json::value* text = thing.if_contains(key))
            if (const auto* name = text->if_string()) return std::string(*name);
    return {};
}

std::string text_of(const json::value& value) {
    if (const auto* text = value.if_string()) return std::string(*text);
    if (const auto* list = value.if_array()) {
        std::string joined;
        for (const json::value& each : *list) {
            const bool prose = each.is_object() && each.as_object().contains("plain_text");
            if (!joined.empty() && !prose) joined += ", ";
            joined += text_of(each);
        }
        return joined;
    }
    if (const auto* number = value.if_double()) {
        std::string text;
        Json<double>::write(*number, text);
        return text;
    }
    const auto* thing = value.if_object();
    if (!thing) return json::serialize(value);
    std::string text = name_in(*thing);
    if (const json::value* end = thing->if_contains("end"); end && end->is_string())
        text += " to " + std::string(end->as_string());
    return text;
}

}  // namespace

std::string text_of_value(const JsonText& value) {
    boost::system::error_code failed;
    const json::value parsed = json::parse(value.text, failed);
    const auto* shown = parsed.if_object();
    const json::value* type = shown ? shown->if_contains("type") : nullptr;
    if (!type || !type->is_string()) return {};
    const json::value* held = shown->if_contains(type->as_string());
    return held && !held->is_null() ? text_of(*held) : std::string();
}

}  // namespace svc::boards

#include "plugins/idp-oidc/lib/json.hpp"

#include <cmath>

namespace svc::idp_oidc {

namespace json = boost::json;

std::optional<json::object> parse_object(std::string_view text) {
    std::error_code problem;
    json::value value = json::parse(text, problem);
    if (problem || !value.is_object()) return std::nullopt;
    return std::move(value.get_object());
}

std::optional<std::string> text_in(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    if (!value || !value->is_string()) return std::nullopt;
    return std::string(value->get_string());
}

std::optional<std::int64_t> seconds_in(const json::object& from, std::string_view name) {
    constexpr std::int64_t most = 1LL << 40;
    const auto* value = from.if_contains(name);
    if (!value) return std::nullopt;
    if (const auto* number = value->if_int64()) return *number;
    if (const auto* number = value->if_double(); number && std::abs(*number) < most)
        return static_cast<std::int64_t>(*number);
    return std::nullopt;
}

bool list_has(const json::object& from, std::string_view name, std::string_view text) {
    const auto* value = from.if_contains(name);
    const auto* list = value ? value->if_array() : nullptr;
    if (!list) return false;
    for (const auto& each : *list)
        if (each.is_string() && each.get_string() == text) return true;
    return false;
}

}  // namespace svc::idp_oidc

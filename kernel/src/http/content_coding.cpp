#include "http/content_coding.hpp"

#include "http/text.hpp"

#include <optional>

namespace svc::http {

namespace {

/// `q=0`, `q=0.0` and so on: explicitly not wanted.
bool is_refused(std::string_view parameters) {
    const auto q = parameters.find("q=");
    if (q == std::string_view::npos) return false;
    const auto value = without_blanks(parameters.substr(q + 2));
    return value.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool accepts_coding(std::string_view accept_encoding, std::string_view coding) {
    std::optional<bool> named, any;
    each_element(accept_encoding, [&](std::string_view element) {
        const auto semicolon = std::min(element.find(';'), element.size());
        const auto name = without_blanks(element.substr(0, semicolon));
        const bool taken = !is_refused(element.substr(semicolon));
        if (same_name(name, coding)) named = taken;
        else if (name == "*") any = taken;
        return true;
    });
    if (named) return *named;
    return any.value_or(coding == "identity");
}

bool names_tag(std::string_view if_none_match, std::string_view tag) {
    bool found = false;
    each_element(if_none_match, [&](std::string_view element) {
        if (element.starts_with("W/")) element.remove_prefix(2);
        found = element == "*" || element == tag;
        return !found;
    });
    return found;
}

}  // namespace svc::http

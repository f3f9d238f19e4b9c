#include "http/content_coding.hpp"

#include "http/text.hpp"

#include <algorithm>
#include <optional>

namespace svc::http {

namespace {

/// Calls `each` with name and value of every parameter behind a semicolon, quotes removed.
template <class Each>
void each_parameter(std::string_view text, Each each) {
    auto at = text.find(';');
    while (at != std::string_view::npos) {
        text.remove_prefix(at + 1);
        at = text.find(';');
        const auto parameter = text.substr(0, at);
        const auto equals = std::min(parameter.find('='), parameter.size());
        auto value = without_blanks(parameter.substr(std::min(equals + 1, parameter.size())));
        if (value.size() > 1 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        each(without_blanks(parameter.substr(0, equals)), value);
    }
}

/// `q=0`, `q=0.0` and so on: explicitly not wanted.
bool is_refused(std::string_view parameters) {
    bool refused = false;
    each_parameter(parameters, [&](auto name, auto value) {
        if (same_name(name, "q")) refused = value.find_first_not_of("0.") == value.npos;
    });
    return refused;
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

std::string media_type(const Request& request) {
    const auto said = request.header("content-type");
    std::string type(without_blanks(said.substr(0, said.find(';'))));
    std::ranges::transform(type, type.begin(), lower);
    return type;
}

bool is_plain_utf8(const Request& request) {
    const auto coding = request.header("content-encoding");
    if (!coding.empty() && !same_name(coding, "identity")) return false;
    bool plain = true;
    each_parameter(request.header("content-type"), [&](auto name, auto value) {
        if (same_name(name, "charset")) plain = plain && same_name(value, "utf-8");
    });
    return plain;
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

#include "modules/automations/engine/refusals.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc::automations {

namespace json = boost::json;

std::optional<json::object> parsed(const std::string& body) {
    json::error_code bad;
    json::parse_options options;
    options.max_depth = 512;
    json::value value = body.empty() ? nullptr : json::parse(body, bad, {}, options);
    if (bad || !value.is_object()) return std::nullopt;
    return std::move(value.get_object());
}

std::optional<std::string> text_at(const json::object& body, std::string_view name) {
    const json::value* value = body.if_contains(name);
    if (!value || !value->is_string()) return std::nullopt;
    return std::string(value->get_string());
}

namespace {

/// "labels[0]: Should have at most 50 characters" for an entry of a 422's `detail`.
std::string issue_text(const json::object& issue) {
    std::string text;
    if (const json::value* loc = issue.if_contains("loc"); loc && loc->is_array())
        for (std::size_t i = 1; i < loc->get_array().size(); ++i) {
            const json::value& step = loc->get_array()[i];
            if (step.is_int64()) text += "[" + std::to_string(step.get_int64()) + "]";
            else if (step.is_string())
                (text += text.empty() ? "" : ".") += std::string_view(step.get_string());
        }
    if (const auto message = text_at(issue, "msg")) (text += text.empty() ? "" : ": ") += *message;
    return text;
}

constexpr std::size_t longest_code = 60, longest_message = 1'000;  // bytes

bool is_code(std::string_view code) {
    const auto fine = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !code.empty() && code.size() <= longest_code && std::ranges::all_of(code, fine);
}

/// Cuts UTF-8 to so many bytes, or to fewer rather than through a character.
void shorten(std::string& text, std::size_t most) {
    if (text.size() <= most) return;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    text.resize(most);
}

}  // namespace

// A message that sends its reader to `detail` is of no use in a log.
std::string reason_in(const json::object& body) {
    constexpr std::size_t most = 5;
    std::string text;
    if (const json::value* detail = body.if_contains("detail"); detail && detail->is_array())
        for (std::size_t i = 0; i < detail->get_array().size() && i < most; ++i)
            if (const json::value& issue = detail->get_array()[i]; issue.is_object())
                (text += text.empty() ? "" : "; ") += issue_text(issue.get_object());
    return text.empty() ? text_at(body, "message").value_or("") : text;
}

Refusal proper(Refusal refusal) {
    if (!is_code(refusal.code)) refusal.code = "refused";
    shorten(refusal.message, longest_message);
    if (refusal.message.empty())
        refusal.message = "An automation of this server does not allow it.";
    return refusal;
}

}  // namespace svc::automations

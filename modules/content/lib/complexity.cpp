#include "modules/content/lib/complexity.hpp"

#include <algorithm>

namespace svc::content {

namespace {

constexpr std::size_t most_bytes = 1'000'000;
constexpr std::size_t most_bars_in_line = 400;
constexpr std::size_t most_markers_in_line = 100;
constexpr std::size_t most_brackets = 20'000;
constexpr std::size_t most_marks = 40'000;

/// Signs in front of a line that each may open a quote or a list.
std::size_t markers(std::string_view line) {
    std::size_t count = 0;
    for (const char c : line) {
        if (c == '>' || c == '-' || c == '+' || c == '*' || c == '.' || c == ')') ++count;
        else if (c != ' ' && c != '\t' && (c < '0' || c > '9')) break;
    }
    return count;
}

/// A rule, such as a line of dashes, opens nothing.
bool is_rule(std::string_view line) {
    const auto first = line.find_first_not_of(" \t");
    if (first == line.npos) return true;
    return std::ranges::all_of(line, [&](char c) {
        return c == ' ' || c == '\t' || c == '\r' || (c == line[first] && c != '>' && c != '+');
    });
}

/// How many of these signs there are that no backslash makes plain text of.
template <class Is>
std::size_t count_signs(std::string_view text, Is is) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') ++i;
        else if (is(text[i])) ++count;
    }
    return count;
}

}  // namespace

std::string complexity_error(std::string_view text) {
    if (text.size() > most_bytes) return "the text is too long";
    const auto is_bracket = [](char c) { return c == '['; };
    if (count_signs(text, is_bracket) > most_brackets) return "there are too many brackets";
    const auto is_mark = [](char c) { return c == '*' || c == '_' || c == '~' || c == '`'; };
    if (count_signs(text, is_mark) > most_marks) return "there are too many marks";
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (count_signs(line, [](char c) { return c == '|'; }) > most_bars_in_line)
            return "a line has too many vertical bars";
        if (markers(line) > most_markers_in_line && !is_rule(line))
            return "a line opens too many quotes or lists";
    }
    return {};
}

}  // namespace svc::content

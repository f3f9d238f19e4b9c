#include "modules/content/lib/complexity.hpp"

#include <algorithm>

namespace svc::content {

namespace {

constexpr std::size_t most_bytes = 1'000'000;
constexpr std::size_t most_bars_in_line = 400;
constexpr std::size_t most_opened_by_line = 100;
constexpr std::size_t most_brackets = 20'000;
constexpr std::size_t most_marks = 40'000;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// How long the mark is that `line` begins with and that opens a list: a bullet, or a number and a
/// dot, with a blank behind it.
std::size_t list_mark(std::string_view line) {
    constexpr std::size_t most_digits = 9;
    const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const std::string_view marks = digits > 0 ? ".)" : "-+*";
    if (digits > most_digits || digits == line.size() || marks.find(line[digits]) == marks.npos)
        return 0;
    const auto size = digits + 1;
    return size == line.size() || is_blank(line[size]) ? size : 0;
}

/// Quotes and lists that a line opens one within the other.
std::size_t opened_by(std::string_view line) {
    for (std::size_t count = 0;; ++count) {
        while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
        const auto size = line.starts_with('>') ? 1 : list_mark(line);
        if (size == 0) return count;
        line.remove_prefix(size);
    }
}

/// A rule, such as a line of dashes, opens nothing.
bool is_rule(std::string_view line) {
    const auto first = line.find_first_not_of(" \t");
    if (first == line.npos) return true;
    return std::ranges::all_of(line, [&](char c) {
        return is_blank(c) || (c == line[first] && c != '>' && c != '+');
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
        if (opened_by(line) > most_opened_by_line && !is_rule(line))
            return "a line opens too many quotes or lists";
    }
    return {};
}

}  // namespace svc::content

#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace svc {

/// What one field promises beyond its type. Bounds on numbers are inclusive; lengths
/// count Unicode code points of text, items of lists, members of maps.
struct Rules {
    std::string_view doc{};
    std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    std::size_t shortest = 0;
    std::size_t longest = std::numeric_limits<std::size_t>::max();
    std::size_t item_longest = std::numeric_limits<std::size_t>::max();  ///< of each text in a list
    /// A regular expression that the whole text must match: what ECMAScript and RE2 both know, so
    /// no look-around and no back-references. Matching takes linear time.
    std::string_view pattern{};
    std::string_view header{};  ///< sent as this request header (lower case)
    bool in_query = false;      ///< sent in the query string even when there is a body
    bool defaulted = false;     ///< may be left out; the member's initialiser stands
    /// A name or a title: surrounding white space is removed before lengths are counted, and
    /// control characters are refused.
    bool trimmed = false;
    bool multiline = false;   ///< of trimmed text: tabs and line breaks are taken
    bool omit_empty = false;  ///< an output member that is absent, not null, when empty ("opt")
    bool read_only = false;   ///< read-only: accepted in input and ignored
    bool flatten = false;     ///< a nested record whose fields stand beside this one's siblings
    bool secret = false;  ///< never logged (in a path neither), never in an event or audit entry
};

// The words a field list is written in.
constexpr auto length(std::size_t shortest, std::size_t longest) {
    return [=](Rules& rules) { rules.shortest = shortest, rules.longest = longest; };
}
constexpr auto items_up_to(std::size_t longest) {
    return [=](Rules& rules) { rules.item_longest = longest; };
}
constexpr auto range(std::int64_t lowest, std::int64_t highest) {
    return [=](Rules& rules) { rules.lowest = lowest, rules.highest = highest; };
}
constexpr auto matches(std::string_view pattern) {
    return [=](Rules& rules) { rules.pattern = pattern; };
}
constexpr auto in_header(std::string_view name) {
    return [=](Rules& rules) { rules.header = name; };
}
constexpr auto in_query = [](Rules& rules) { rules.in_query = true; };
constexpr auto defaulted = [](Rules& rules) { rules.defaulted = true; };
constexpr auto trimmed = [](Rules& rules) { rules.trimmed = true; };
constexpr auto multiline = [](Rules& rules) { rules.multiline = true; };
constexpr auto omit_empty = [](Rules& rules) { rules.omit_empty = true; };
constexpr auto read_only = [](Rules& rules) { rules.read_only = true; };
constexpr auto flatten = [](Rules& rules) { rules.flatten = true; };
constexpr auto secret = [](Rules& rules) { rules.secret = true; };

}  // namespace svc

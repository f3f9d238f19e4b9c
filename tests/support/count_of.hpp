#pragma once

#include <string_view>

namespace svc::test {

/// How often the part is in the text.
inline int count_of(std::string_view text, std::string_view part) {
    int count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace svc::test

#pragma once

#include "tests/support/places.hpp"
#include "tests/support/program.hpp"

#include <stdexcept>

/// The recipes of docs/operating.md.
namespace svc::test {

/// The block of docs/operating.md that follows `<!-- recipe: name -->`.
inline std::string recipe(const std::string& name) {
    const auto page = read_file(source_folder() / "docs/operating.md");
    const auto mark = page.find("<!-- recipe: " + name + " -->");
    if (mark == std::string::npos) throw std::runtime_error("there is no recipe " + name);
    const auto fence = page.find("```", mark);
    const auto begin = page.find('\n', fence) + 1;
    return page.substr(begin, page.find("```", begin) - begin);
}

inline void replace(std::string& text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    if (at == std::string::npos) throw std::runtime_error(what + " is not in\n" + text);
    text.replace(at, what.size(), with);
}

}  // namespace svc::test

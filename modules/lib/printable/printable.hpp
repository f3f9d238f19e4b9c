#pragma once

#include <string>
#include <string_view>

/// What somebody wrote, fit to be shown on an operator's terminal: without control characters, to
/// which terminals do all sorts of things.
namespace svc {

/// All of it on one line, cut after so many characters.
std::string on_one_line(std::string_view text, std::size_t most_characters);
/// Its lines as they are, each indented.
std::string indented(std::string_view text);

}  // namespace svc

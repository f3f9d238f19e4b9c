#pragma once

#include <string>
#include <string_view>

namespace svc::content {

/// Why a text is no Markdown that anybody would write, so that it need not be parsed: some such
/// texts take a parser time, or a table room, out of all proportion. Empty when it is fine.
std::string complexity_error(std::string_view text);

}  // namespace svc::content

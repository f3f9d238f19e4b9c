#pragma once

#include <string>
#include <string_view>

namespace svc::docs {

/// Markdown as HTML. Links to other files are their text alone, since those are not served; HTML in
/// it is left out.
std::string as_html(std::string_view markdown);

/// What its first heading says.
std::string title_of(std::string_view markdown);

}  // namespace svc::docs

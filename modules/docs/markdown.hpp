#pragma once

#include <string>
#include <string_view>

namespace svc::docs {

/// Markdown as HTML. Links to other files are their text alone, since those are not served; HTML in
/// it is left out. A name in code marks with which a cell of a table begins can be linked to by
/// that name, and those that follow it in the cell; of several with one name, the first.
std::string as_html(std::string_view markdown);

/// What its first heading says.
std::string title_of(std::string_view markdown);

}  // namespace svc::docs

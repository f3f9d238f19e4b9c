#pragma once

#include <string>
#include <string_view>

namespace svc::docs {

/// The Markdown that the project writes its pages in, as HTML: headings, paragraphs, lists, tables
/// and code; in a line code, strong text and links. Links to other files are their text alone,
/// since those are not served. All else stands as it is, escaped.
std::string as_html(std::string_view markdown);

/// What its first heading says.
std::string title_of(std::string_view markdown);

}  // namespace svc::docs

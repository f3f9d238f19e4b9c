#pragma once

#include "modules/content/lib/rich_text.hpp"

#include <array>

struct cmark_node;

/// One line or paragraph of Markdown.
namespace svc::content {

using namespace std::string_view_literals;

/// How a line break within the text is written: where the text has to stay on one line, as a tag.
enum class LineBreaks { as_lines, as_tags };

std::string inline_markdown(const RichTexts& texts, LineBreaks breaks);
/// Items that look alike and stand side by side as one; colors left out.
RichTexts joined(const RichTexts& texts);

/// The inline content below a node that cmark made.
RichTexts inline_text(cmark_node* parent);

}  // namespace svc::content

#pragma once

#include "modules/boards/api.hpp"

/// Blocks and comments are written in the rich text of boards (contract 1.2, 6.20).
namespace svc::content {

using boards::Annotations, boards::InlineEquation, boards::LinkUrl, boards::RichText,
    boards::RichTexts, boards::RichTextType, boards::TextColor, boards::TextContent,
    boards::TextLink;
using boards::DateValue, boards::Mention, boards::MentionedPage, boards::MentionedUser,
    boards::MentionType;
using boards::gather, boards::plain_text_of, boards::settle, boards::text_item, boards::work_out;
using boards::most_items, boards::Named, boards::Names;

/// A text without marks, cut into items of the length that is allowed.
RichTexts rich_text_of(std::string_view plain);

}  // namespace svc::content

#pragma once

#include "modules/lib/rich_text/rich_text.hpp"

/// Blocks and comments are written in rich text (contract 1.2, 6.20).
namespace svc::content {

using rich_text::Annotations, rich_text::InlineEquation, rich_text::LinkUrl, rich_text::RichText,
    rich_text::RichTexts, rich_text::RichTextType, rich_text::TextColor, rich_text::TextContent,
    rich_text::TextLink;
using rich_text::collect_references, rich_text::normalize, rich_text::plain_text_of,
    rich_text::resolve, rich_text::text_item;
using rich_text::DateValue, rich_text::Mention, rich_text::MentionedPage, rich_text::MentionedUser,
    rich_text::MentionType;
using rich_text::most_items, rich_text::ReferenceNames, rich_text::References;

/// A text without marks, cut into items of the length that is allowed.
RichTexts rich_text_of(std::string_view plain);

}  // namespace svc::content

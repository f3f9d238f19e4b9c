#pragma once

#include "modules/lib/rich_text/rich_text.hpp"

namespace svc::boards {

using rich_text::RichText, rich_text::RichTexts;

/// The JSON `text` with what strangers must not read taken out of its strings: e-mail addresses,
/// and secrets of this service, told by how they begin. Each becomes "[hidden]".
std::string public_text(std::string_view text);

/// Markdown in which addresses and secrets are broken up neither by backslashes nor by marks of
/// style or links, so that public_text() finds them.
std::string with_whole_words(std::string_view markdown);

/// The same of rich text: one plain item, where some are broken up between items.
RichTexts with_whole_words(const RichTexts& texts);

/// The same of a card's value, of which rich text alone can be broken up.
JsonText with_whole_words(const JsonText& value);

}  // namespace svc::boards

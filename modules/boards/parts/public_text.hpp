#pragma once

#include <string>
#include <string_view>

namespace svc::boards {

/// The JSON `text` with what strangers must not read taken out of its strings: e-mail addresses,
/// and secrets of this service, told by how they begin. Each becomes "[hidden]".
std::string public_text(std::string_view text);

/// Markdown in which addresses and secrets are broken up neither by backslashes nor by marks of
/// style, so that public_text() finds them.
std::string with_whole_words(std::string_view markdown);

}  // namespace svc::boards

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
namespace svc::decl::utf8 {

/// The bytes of the well-formed sequence that `text` begins with; 0 when it is ill-formed.
std::size_t sequence(std::string_view text);
/// The bytes of well-formed sequences beyond ASCII that `text` begins with.
std::size_t beyond_ascii(std::string_view text);
/// The bytes that one U+FFFD stands for where `text` begins with an ill-formed sequence.
std::size_t ill_formed(std::string_view text);

bool well_formed(std::string_view text);
/// Code points of well-formed text.
std::size_t length(std::string_view text);
/// The longest beginning of at most `bytes` bytes that cuts no sequence.
std::string_view beginning(std::string_view text, std::size_t bytes);
/// Without the white space (Unicode's) at both ends.
std::string_view trimmed(std::string_view text);
/// Control characters, line and paragraph separators, or white space of any kind.
bool has_space_or_control(std::string_view text);
/// Whether there is a control character in it; tabs and line breaks may be let through.
bool has_control(std::string_view text, bool let_lines_through);

}  // namespace svc::decl::utf8

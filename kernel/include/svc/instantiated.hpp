#pragma once

#include <string>
#include <string_view>

/// What inline functions of the standard headers ask of std::basic_string, for each type of
/// character. GCC keeps it in a precompiled header as work to do, and each file that takes the
/// header does it again; what a constant expression has called is done already.
namespace svc::detail {

template <class Char>
consteval bool instantiate_text() {
    const Char letters[]{Char('a'), Char('b'), Char('c')};
    const std::basic_string<Char> text(letters, 3);
    const std::basic_string_view<Char> view(text);
    return text.c_str() == text.data() && text.length() == view.length() && view.data() != nullptr;
}
static_assert(instantiate_text<char>());
static_assert(instantiate_text<wchar_t>());
static_assert(instantiate_text<char8_t>());
static_assert(instantiate_text<char16_t>());
static_assert(instantiate_text<char32_t>());

}  // namespace svc::detail

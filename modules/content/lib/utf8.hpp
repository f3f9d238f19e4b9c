#pragma once

#include <cstddef>
#include <string_view>

/// Text by code points; all of it is well-formed where it comes from.
namespace svc::content::utf8 {

/// The first `most` code points of `text`.
inline std::string_view first(std::string_view text, std::size_t most) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
        if (begins && most-- == 0) break;
    }
    return text.substr(0, at);
}

}  // namespace svc::content::utf8

#pragma once

#include "modules/content/lib/markdown.hpp"
#include "svc/call.hpp"

namespace svc::content {

/// What `read` makes of Markdown that stands at `path` of the input. Failure 422 there when it
/// makes nothing that could be kept.
template <class Read>
auto read_markdown(const Call& call, std::string_view path, const std::string& text, Read read) {
    try {
        return read(text);
    } catch (const MarkdownError& error) {
        throw wrong_at(call, path, error.what());
    }
}

}  // namespace svc::content

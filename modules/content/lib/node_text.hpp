#pragma once

#include "modules/lib/cmark_tree/cmark_tree.hpp"

#include <string>
#include <string_view>

/// What is often asked of cmark's nodes.
namespace svc::content {

inline std::string_view kind_of_node(cmark_node* node) { return cmark_node_get_type_string(node); }

inline std::string_view literal(cmark_node* node) {
    const char* text = cmark_node_get_literal(node);
    return text ? std::string_view(text) : std::string_view();
}

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.remove_prefix(1);
    return text;
}

/// What is HTML elsewhere is text here, but for line breaks.
inline std::string html_as_text(std::string_view html) {
    std::string text(trimmed(html));
    for (auto tag = text.find("<br>"); tag != text.npos; tag = text.find("<br>"))
        text.replace(tag, 4, "\n");
    return text;
}

}  // namespace svc::content

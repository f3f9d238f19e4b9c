#pragma once

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

/// cmark's trees of nodes, and what is often asked of them.
namespace svc::content {

struct FreeParser {
    void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};
struct FreeNode {
    void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using Tree = std::unique_ptr<cmark_node, FreeNode>;

inline Tree parsed(std::string_view text) {
    static std::once_flag once;
    std::call_once(once, cmark_gfm_core_extensions_ensure_registered);
    std::unique_ptr<cmark_parser, FreeParser> parser(cmark_parser_new(CMARK_OPT_DEFAULT));
    for (const char* each : {"table", "strikethrough", "tasklist"})
        cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(each));
    cmark_parser_feed(parser.get(), text.data(), text.size());
    return Tree(cmark_parser_finish(parser.get()));
}

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

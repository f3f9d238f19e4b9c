#pragma once

#include <cmark-gfm.h>

#include <memory>
#include <string_view>

/// Markdown as cmark's trees of nodes.
namespace svc {

struct FreeNode {
    void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using MarkdownTree = std::unique_ptr<cmark_node, FreeNode>;

/// Of GitHub's kind, with tables, strikethrough and task lists. Any text is Markdown; any thread.
MarkdownTree parse_markdown(std::string_view text);

}  // namespace svc

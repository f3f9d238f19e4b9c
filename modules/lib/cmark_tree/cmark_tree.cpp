#include "modules/lib/cmark_tree/cmark_tree.hpp"

#include <cmark-gfm-core-extensions.h>

#include <mutex>

namespace svc {

namespace {

struct FreeParser {
    void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};

}  // namespace

MarkdownTree parse_markdown(std::string_view text) {
    static std::once_flag once;
    std::call_once(once, cmark_gfm_core_extensions_ensure_registered);
    std::unique_ptr<cmark_parser, FreeParser> parser(cmark_parser_new(CMARK_OPT_DEFAULT));
    for (const char* each : {"table", "strikethrough", "tasklist"})
        cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(each));
    cmark_parser_feed(parser.get(), text.data(), text.size());
    return MarkdownTree(cmark_parser_finish(parser.get()));
}

}  // namespace svc

#include "modules/docs/markdown.hpp"

#include "modules/lib/cmark_tree/cmark_tree.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace svc::docs {

namespace {

struct FreeIterator {
    void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};
struct FreeText {
    void operator()(char* text) const { cmark_get_default_mem_allocator()->free(text); }
};

bool is_served(std::string_view target) {
    return target.starts_with('/') || target.starts_with("https://");
}

std::vector<cmark_node*> links_to_elsewhere(cmark_node* tree) {
    std::vector<cmark_node*> found;
    const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(tree));
    for (auto event = cmark_iter_next(iterator.get()); event != CMARK_EVENT_DONE;
         event = cmark_iter_next(iterator.get())) {
        cmark_node* node = cmark_iter_get_node(iterator.get());
        if (event == CMARK_EVENT_EXIT && cmark_node_get_type(node) == CMARK_NODE_LINK &&
            !is_served(cmark_node_get_url(node)))
            found.push_back(node);
    }
    return found;
}

/// Puts what is in the node where it stands itself.
void unwrap(cmark_node* node) {
    while (cmark_node* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
    cmark_node_free(node);
}

constexpr std::string_view cell = "<td>", code = "<code>", end_of_code = "</code>";

/// Gives ids to the names with which the cell begins whose text is at that place.
void add_anchors(std::string& html, std::size_t at, std::set<std::string>& taken) {
    const auto is_part = [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); };
    while (std::string_view(html).substr(at).starts_with(code)) {
        const auto begin = at + code.size(), end = html.find(end_of_code, begin);
        const std::string name = html.substr(begin, end - begin);
        at = end + end_of_code.size();
        if (std::ranges::all_of(name, is_part) && taken.insert(name).second) {
            const std::string id = " id=\"" + name + '"';
            html.insert(begin - 1, id);
            at += id.size();
        }
        if (std::string_view(html).substr(at).starts_with(", ")) at += 2;
    }
}

}  // namespace

std::string as_html(std::string_view markdown) {
    const MarkdownTree tree = parse_markdown(markdown);
    for (cmark_node* each : links_to_elsewhere(tree.get())) unwrap(each);
    const std::unique_ptr<char, FreeText> html(
        cmark_render_html(tree.get(), CMARK_OPT_DEFAULT, nullptr)
    );
    std::string page = html.get();
    std::set<std::string> taken;
    for (auto at = page.find(cell); at != page.npos; at = page.find(cell, at + cell.size()))
        add_anchors(page, at + cell.size(), taken);
    return page;
}

std::string title_of(std::string_view markdown) {
    const auto line = markdown.substr(0, markdown.find('\n'));
    return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
}

}  // namespace svc::docs

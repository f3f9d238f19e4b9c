// Markdown as blocks.

#include "modules/content/lib/complexity.hpp"
#include "modules/content/lib/made_blocks.hpp"
#include "modules/content/lib/node_text.hpp"

#include <cmark-gfm-core-extensions.h>

#include <algorithm>

namespace svc::content {

namespace {

/// One level further down, for as long as it lives.
class Level {
public:
    explicit Level(int& depth) : depth_(depth) {
        if (++depth_ > 40) throw MarkdownError("blocks stand 32 levels deep at most");
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

private:
    int& depth_;
};

class BlockReader {
public:
    explicit BlockReader(std::string_view source) {
        while (!source.empty()) {
            const auto end = std::min(source.find('\n'), source.size());
            lines_.push_back(source.substr(0, end));
            source.remove_prefix(std::min(end + 1, source.size()));
        }
    }

    std::vector<BlockInput> below(cmark_node* parent) {
        const Level level(depth_);
        cmark_node* at = cmark_node_first_child(parent);
        return siblings(at, {});
    }

private:
    /// Reads on until the mark that ends a group, which is passed; `at` stands behind it then.
    std::vector<BlockInput> siblings(cmark_node*& at, std::string_view until) {
        const Level level(depth_);
        std::vector<BlockInput> blocks;
        while (at) {
            cmark_node* node = at;
            at = cmark_node_next(at);
            if (kind_of_node(node) == "html_block") {
                const std::string_view mark = trimmed(literal(node));
                if (!until.empty() && mark == until) break;
                take_html(mark, at, blocks);
            } else {
                take(node, blocks);
            }
        }
        return blocks;
    }

    void take(cmark_node* node, std::vector<BlockInput>& blocks) {
        const std::string_view kind = kind_of_node(node);
        if (kind == "paragraph") blocks.push_back(paragraph(node));
        else if (kind == "heading") blocks.push_back(heading(node));
        else if (kind == "thematic_break")
            blocks.push_back(block_of(BlockType::divider, EmptyBlock{}));
        else if (kind == "block_quote") blocks.push_back(quote(node));
        else if (kind == "list") take_list(node, blocks);
        else if (kind == "code_block") blocks.push_back(code(node));
        else if (kind == "table") blocks.push_back(table(node));
        else
            for (BlockInput& each : below(node)) blocks.push_back(std::move(each));
    }

    // -------------------------------------------------------------------- what is HTML

    void take_html(std::string_view mark, cmark_node*& at, std::vector<BlockInput>& blocks) {
        static constexpr std::string_view card = "<!-- card ", details = "<details>";
        if (mark == empty_mark) {
            blocks.push_back(text_block<ParagraphBlock>(BlockType::paragraph, {}));
        } else if (mark == breadcrumb_mark) {
            blocks.push_back(block_of(BlockType::breadcrumb, EmptyBlock{}));
        } else if (mark == contents_mark) {
            blocks.push_back(block_of(BlockType::table_of_contents, ContentsBlock{}));
        } else if (mark == "<!-- columns -->") {
            take_columns(at, blocks);
        } else if (mark == "<!-- below -->") {
            auto children = siblings(at, "<!-- /below -->");
            put_below(std::move(children), blocks);
        } else if (mark.starts_with(details)) {
            blocks.push_back(toggle(mark.substr(details.size()), at));
        } else if (mark.starts_with(card) && mark.ends_with(" -->") && card_in(mark)) {
            blocks.push_back(block_of(BlockType::card_ref, CardRefBlock{*card_in(mark)}));
            blocks.back().references.pages.push_back(*card_in(mark));
        } else if (!is_stray(mark)) {
            blocks.push_back(
                text_block<ParagraphBlock>(BlockType::paragraph, rich_text_of(html_as_text(mark)))
            );
        }
    }

    static std::optional<Uuid> card_in(std::string_view mark) {
        static constexpr std::string_view before = "<!-- card ", after = " -->";
        return Uuid::parse(mark.substr(before.size(), mark.size() - before.size() - after.size()));
    }

    static bool is_stray(std::string_view mark) {
        return mark == "</details>" || (mark.starts_with("<!--") && mark.ends_with("-->"));
    }

    static void put_below(std::vector<BlockInput> children, std::vector<BlockInput>& blocks) {
        BlockInput* above = blocks.empty() ? nullptr : &blocks.back();
        const bool holds = above && takes_children(above->type) &&
                           above->type != BlockType::table &&
                           above->type != BlockType::column_list && above->children.empty();
        if (!holds) return void(std::ranges::move(children, std::back_inserter(blocks)));
        if (above->type >= BlockType::heading_1 && above->type <= BlockType::heading_4) {
            auto payload = payload_as<HeadingBlock>(above->payload);
            payload.is_toggleable = true;
            above->payload.clear();
            Json<HeadingBlock>::write(payload, above->payload);
        }
        above->children = std::move(children);
    }

    BlockInput toggle(std::string_view rest, cmark_node*& at) {
        static constexpr std::string_view open = "<summary>", close = "</summary>";
        RichTexts texts;
        const auto from = rest.find(open), to = rest.rfind(close);
        if (from != rest.npos && to != rest.npos && from + open.size() <= to) {
            const MarkdownTree line =
                parse_markdown(rest.substr(from + open.size(), to - from - open.size()));
            if (cmark_node* first = cmark_node_first_child(line.get())) texts = text_in(first);
        }
        BlockInput block = text_block<TextBlock>(BlockType::toggle, texts);
        block.children = siblings(at, "</details>");
        return block;
    }

    void take_columns(cmark_node*& at, std::vector<BlockInput>& blocks) {
        const Level level(depth_);
        std::vector<std::vector<BlockInput>> columns;
        while (at) {
            cmark_node* node = at;
            const bool html = kind_of_node(node) == "html_block";
            const std::string_view mark = html ? trimmed(literal(node)) : std::string_view();
            at = cmark_node_next(at);
            if (mark == "<!-- /columns -->") break;
            if (mark == "<!-- column -->") {
                columns.emplace_back();
                continue;
            }
            if (columns.empty()) columns.emplace_back();
            if (html) take_html(mark, at, columns.back());
            else take(node, columns.back());
        }
        if (columns.size() < 2) {
            for (auto& each : columns) std::ranges::move(each, std::back_inserter(blocks));
            return;
        }
        BlockInput list = block_of(BlockType::column_list, EmptyBlock{});
        for (auto& each : columns) {
            list.children.push_back(block_of(BlockType::column, ColumnBlock{}));
            list.children.back().children = std::move(each);
        }
        blocks.push_back(std::move(list));
    }

    // --------------------------------------------------------------------- what is text

    /// Also of a line break that stands alone, which cmark takes for HTML.
    static RichTexts text_in(cmark_node* node) {
        if (kind_of_node(node) != "html_block") return inline_text(node);
        return rich_text_of(html_as_text(literal(node)));
    }

    static BlockInput paragraph(cmark_node* node) {
        if (auto shown = media_in(node)) return *std::move(shown);
        return text_block<ParagraphBlock>(BlockType::paragraph, inline_text(node));
    }

    static BlockInput heading(cmark_node* node) {
        const int level = std::clamp(cmark_node_get_heading_level(node), 1, 4);
        const auto type =
            static_cast<BlockType>(static_cast<int>(BlockType::heading_1) + level - 1);
        return text_block<HeadingBlock>(type, inline_text(node));
    }

    /// The text of something that holds blocks: its first paragraph. What is left is below it.
    template <class T>
    BlockInput with_text(BlockType type, cmark_node* node) {
        cmark_node* at = cmark_node_first_child(node);
        RichTexts texts;
        const std::string_view kind = at ? kind_of_node(at) : std::string_view();
        const std::string_view mark = kind == "html_block" ? trimmed(literal(at)) : "";
        const bool text = kind == "paragraph" || mark == "<br>";
        if (text) texts = text_in(at);
        if (text || mark == empty_mark) at = cmark_node_next(at);
        BlockInput block = text_block<T>(type, texts);
        block.children = siblings(at, {});
        return block;
    }

    BlockInput quote(cmark_node* node) {
        BlockInput block = with_text<TextBlock>(BlockType::quote, node);
        cmark_node* first = cmark_node_first_child(node);
        if (!first || kind_of_node(first) != "paragraph" || !begins_alert(first)) return block;
        auto payload = payload_as<TextBlock>(block.payload);
        CalloutBlock callout;
        callout.rich_text = without_alert(payload.rich_text);
        if (callout.rich_text.empty() && !block.children.empty() && at_mark_alone(first))
            block.children = without_first_text(std::move(block.children), callout.rich_text);
        block.type = BlockType::callout;
        block.payload.clear();
        Json<CalloutBlock>::write(callout, block.payload);
        return block;
    }

    bool begins_alert(cmark_node* paragraph) const {
        const auto number = static_cast<std::size_t>(cmark_node_get_start_line(paragraph));
        if (number == 0 || number > lines_.size()) return false;
        std::string_view line = lines_[number - 1];
        while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
        for (const std::string_view each :
             {"[!NOTE]", "[!TIP]", "[!IMPORTANT]", "[!WARNING]", "[!CAUTION]"})
            if (line.ends_with(each)) return true;
        return false;
    }

    /// The text behind `[!NOTE]`, which stands on a line of its own.
    static RichTexts without_alert(RichTexts texts) {
        if (texts.empty() || !texts.front().text) return texts;
        std::string& text = texts.front().text->content;
        const auto end = text.find(']');
        if (end == text.npos) return texts;
        text.erase(0, text.compare(end + 1, 1, " ") == 0 ? end + 2 : end + 1);
        texts.front().plain_text = text;
        if (text.empty()) texts.erase(texts.begin());
        return texts;
    }

    static bool at_mark_alone(cmark_node* paragraph) {
        cmark_node* next = cmark_node_next(paragraph);
        return next && kind_of_node(next) == "html_block";
    }

    /// `[!NOTE]` followed by the mark of an empty text: that paragraph is the callout's own.
    static std::vector<BlockInput> without_first_text(
        std::vector<BlockInput> children, const RichTexts& texts
    ) {
        if (texts.empty() && children.front().type == BlockType::paragraph &&
            payload_as<ParagraphBlock>(children.front().payload).rich_text.empty())
            children.erase(children.begin());
        return children;
    }

    /// What the box of a task holds; nothing when there is none. cmark does not find those within
    /// quotes.
    char box_of(cmark_node* item) const {
        if (kind_of_node(item) == "tasklist")
            return cmark_gfm_extensions_get_tasklist_item_checked(item) ? 'x' : ' ';
        cmark_node* text = cmark_node_first_child(item);
        if (!text || kind_of_node(text) != "paragraph") return '\0';
        const auto number = static_cast<std::size_t>(cmark_node_get_start_line(text));
        const auto column = static_cast<std::size_t>(cmark_node_get_start_column(text));
        if (number == 0 || number > lines_.size() || column == 0) return '\0';
        const std::string_view line = lines_[number - 1];
        if (column > line.size()) return '\0';
        const std::string_view box = line.substr(column - 1, 4);
        if (box == "[ ] ") return ' ';
        return box == "[x] " || box == "[X] " ? 'x' : '\0';
    }

    static RichTexts without_box(RichTexts texts) {
        if (texts.empty() || !texts.front().text || texts.front().plain_text.size() < 4)
            return texts;
        texts.front().text->content.erase(0, 4);
        texts.front().plain_text.erase(0, 4);
        if (texts.front().plain_text.empty()) texts.erase(texts.begin());
        return texts;
    }

    void take_list(cmark_node* node, std::vector<BlockInput>& blocks) {
        const bool ordered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
        bool first = true;
        for (cmark_node* at = cmark_node_first_child(node); at; at = cmark_node_next(at)) {
            const char box = ordered ? '\0' : box_of(at);
            if (box != '\0') {
                BlockInput block = with_text<ToDoBlock>(BlockType::to_do, at);
                auto payload = payload_as<ToDoBlock>(block.payload);
                payload.checked = box != ' ';
                if (kind_of_node(at) != "tasklist")
                    payload.rich_text = without_box(payload.rich_text);
                block.payload.clear();
                Json<ToDoBlock>::write(payload, block.payload);
                blocks.push_back(std::move(block));
            } else if (ordered) {
                BlockInput block = with_text<NumberedItemBlock>(BlockType::numbered_list_item, at);
                if (const int start = cmark_node_get_list_start(node); first && start != 1) {
                    auto payload = payload_as<NumberedItemBlock>(block.payload);
                    payload.list_start_index = start;
                    block.payload.clear();
                    Json<NumberedItemBlock>::write(payload, block.payload);
                }
                blocks.push_back(std::move(block));
            } else {
                blocks.push_back(with_text<TextBlock>(BlockType::bulleted_list_item, at));
            }
            first = false;
        }
    }

    static BlockInput code(cmark_node* node) {
        std::string_view text = literal(node);
        if (text.ends_with('\n')) text.remove_suffix(1);
        const char* fence = cmark_node_get_fence_info(node);
        const std::string info(trimmed(fence ? fence : ""));
        if (info == "math" && !text.empty() && text.size() <= 1000)
            return block_of(BlockType::equation, EquationBlock{std::string(text)});
        CodeBlock payload;
        payload.rich_text = checked(rich_text_of(text));
        if (!info.empty() && info.size() <= 60) payload.language = info;
        return block_of(BlockType::code, payload);
    }

    /// A row in whose cells nothing stands, not even a mark.
    static bool is_bare(cmark_node* row) {
        for (cmark_node* cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell))
            if (cmark_node_first_child(cell)) return false;
        return true;
    }

    static BlockInput table(cmark_node* node) {
        TableBlock payload;
        payload.table_width = cmark_gfm_extensions_get_table_columns(node);
        if (payload.table_width > 100) throw MarkdownError("a table has 100 columns at most");
        std::vector<BlockInput> rows;
        // Of a table without a header the writer leaves that row empty.
        cmark_node* at = cmark_node_first_child(node);
        payload.has_column_header = !cmark_node_next(at) || !is_bare(at);
        if (!payload.has_column_header) at = cmark_node_next(at);
        for (; at; at = cmark_node_next(at)) {
            TableRowBlock row;
            References references;
            for (cmark_node* cell = cmark_node_first_child(at); cell;
                 cell = cmark_node_next(cell)) {
                row.cells.push_back(checked(inline_text(cell)));
                collect_references(row.cells.back(), references);
            }
            row.cells.resize(static_cast<std::size_t>(payload.table_width));
            rows.push_back(block_of(BlockType::table_row, row));
            rows.back().references = std::move(references);
        }
        BlockInput block = block_of(BlockType::table, payload);
        block.children = std::move(rows);
        return block;
    }

    std::vector<std::string_view> lines_;
    int depth_ = 0;
};

}  // namespace

std::vector<BlockInput> blocks_of_markdown(std::string_view text) {
    if (const auto why = complexity_error(text); !why.empty()) throw MarkdownError(why);
    const MarkdownTree tree = parse_markdown(text);
    return BlockReader(text).below(tree.get());
}

RichTexts text_of_markdown(std::string_view text) {
    if (const auto why = complexity_error(text); !why.empty()) throw MarkdownError(why);
    const MarkdownTree tree = parse_markdown(text);
    RichTexts texts;
    for (cmark_node* at = cmark_node_first_child(tree.get()); at; at = cmark_node_next(at)) {
        if (!texts.empty()) texts.push_back(text_item("\n"));
        RichTexts more = inline_text(at);
        if (more.empty()) more = rich_text_of(html_as_text(literal(at)));
        std::ranges::move(more, std::back_inserter(texts));
    }
    return joined(texts);
}

}  // namespace svc::content

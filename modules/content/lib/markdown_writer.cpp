// Blocks as Markdown.

#include "modules/content/lib/inline_markdown.hpp"
#include "modules/content/lib/markdown.hpp"

#include <algorithm>

namespace svc::content {

namespace {

/// Puts `prefix` in front of every line but the first, and `first` in front of that.
std::string indented(const std::string& text, std::string_view first, std::string_view prefix) {
    std::string out(first);
    for (std::size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] != '\n') out += prefix;
        else if (text[i] == '\n' && prefix.starts_with('>')) out += '>';
    }
    return out;
}

std::string paragraph(const RichTexts& texts) {
    std::string text = inline_markdown(texts, LineBreaks::as_lines);
    return text.empty() ? std::string(empty_mark) : text;
}

std::string fenced(const std::string& code, const std::string& info) {
    std::size_t longest = 2, run = 0;
    for (const char c : code) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    return fence + info + "\n" + code + (code.empty() ? "" : "\n") + fence;
}

/// A fence's info string is one line and holds no backtick; what it escapes is read as it was.
std::string info_of(const std::string& language) {
    if (language == "plain text") return {};
    std::string info;
    for (const char c : language) {
        if (static_cast<unsigned char>(c) < 0x20 || c == '`') continue;
        if (c == '\\') info += "\\\\";
        else if (c == '&') info += "&amp;";
        else info += c;
    }
    return info;
}

std::string cell(const RichTexts& texts) {
    std::string out;
    for (const char c : inline_markdown(texts, LineBreaks::as_tags)) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

std::string row_of(const std::vector<RichTexts>& cells) {
    std::string out = "|";
    for (const RichTexts& each : cells) out += " " + cell(each) + " |";
    return out;
}

/// With a mark when it says nothing, or it would stand for a table without a header.
std::string header_of(const std::vector<RichTexts>& cells) {
    const std::string row = row_of(cells);
    if (row.find_first_not_of("| ") != row.npos) return row;
    return "| " + std::string(empty_mark) + row.substr(2);
}

/// Links do not nest: what leads somewhere within the text of a link is only named there.
std::string caption_or(const RichTexts& caption, const std::string& otherwise) {
    if (caption.empty()) return markdown_of(rich_text_of(otherwise));
    RichTexts unlinked;
    for (const RichText& each : caption) {
        const bool leads = each.mention || (each.text && each.text->link);
        unlinked.push_back(leads ? text_item(each.plain_text, each.annotations) : each);
    }
    return markdown_of(unlinked);
}

std::string link(const std::string& text, const std::string& url) {
    std::string target;
    for (const char c : url) {
        if (c == '<' || c == '>' || c == '\\') target += '\\';
        if (c == '&') target += "&amp;";
        else target += c;
    }
    return "[" + text + "](<" + target + ">)";
}

template <class Media>
std::string media_url(const Media& media) {
    return media.external ? media.external->url.str() : "file:" + media.file->file_id.str();
}

class Writer {
public:
    std::string write(const std::vector<WrittenBlock>& blocks) {
        std::string out;
        std::int64_t number = 0;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const WrittenBlock& each = blocks[i];
            number = each.type == BlockType::numbered_list_item ? next_number(each, number) : 0;
            if (i > 0) out += in_one_list(blocks[i - 1].type, each.type) ? "\n" : "\n\n";
            out += block(each, number);
        }
        return out;
    }

    std::string block(const WrittenBlock& block, std::int64_t number) {
        switch (block.type) {
            case BlockType::bulleted_list_item:
                return item("- ", texts<TextBlock>(block), block.children);
            case BlockType::numbered_list_item:
                return item(
                    std::to_string(number) + ". ", texts<NumberedItemBlock>(block), block.children
                );
            case BlockType::to_do: {
                const auto payload = payload_as<ToDoBlock>(block.payload);
                const std::string text = paragraph(payload.rich_text);
                return with_below(
                    indented((payload.checked ? "[x] " : "[ ] ") + text, "- ", "  "),
                    "  ",
                    block.children
                );
            }
            case BlockType::quote: return quote(block);
            case BlockType::callout: return callout(block);
            case BlockType::toggle: return toggle(block);
            case BlockType::table: return table(block);
            case BlockType::column_list: return columns(block);
            default: return leaf(block) + below(block.children);
        }
    }

private:
    template <class T>
    static RichTexts texts(const WrittenBlock& block) {
        return payload_as<T>(block.payload).rich_text;
    }

    static std::int64_t next_number(const WrittenBlock& block, std::int64_t number) {
        const auto start = payload_as<NumberedItemBlock>(block.payload).list_start_index;
        return number == 0 ? start.value_or(1) : number + 1;
    }

    static bool in_one_list(BlockType a, BlockType b) {
        const auto bullet = [](BlockType type) {
            return type == BlockType::bulleted_list_item || type == BlockType::to_do;
        };
        return (bullet(a) && bullet(b)) || (a == b && a == BlockType::numbered_list_item);
    }

    std::string item(
        const std::string& marker, const RichTexts& texts, const std::vector<WrittenBlock>& children
    ) {
        const std::string space(marker.size(), ' ');
        return with_below(indented(paragraph(texts), marker, space), space, children);
    }

    std::string with_below(
        std::string text, const std::string& space, const std::vector<WrittenBlock>& children
    ) {
        if (children.empty()) return text;
        // Numbers do not always begin a list right below a text.
        const bool list = children.front().type == BlockType::bulleted_list_item ||
                          children.front().type == BlockType::to_do;
        text += list ? "\n" : "\n\n";
        return text + indented(write(children), space, space);
    }

    std::string quote(const WrittenBlock& block) {
        std::string text = paragraph(texts<TextBlock>(block));
        if (!block.children.empty()) text += "\n\n" + write(block.children);
        return indented(text, "> ", "> ");
    }

    std::string callout(const WrittenBlock& block) {
        std::string text = "[!NOTE]\n" + paragraph(texts<CalloutBlock>(block));
        if (!block.children.empty()) text += "\n\n" + write(block.children);
        return indented(text, "> ", "> ");
    }

    std::string toggle(const WrittenBlock& block) {
        std::string text = "<details>\n<summary>" +
                           inline_markdown(texts<TextBlock>(block), LineBreaks::as_tags) +
                           "</summary>\n\n";
        if (!block.children.empty()) text += write(block.children) + "\n\n";
        return text + "</details>";
    }

    static std::string table(const WrittenBlock& block) {
        const auto payload = payload_as<TableBlock>(block.payload);
        const auto width = static_cast<std::size_t>(payload.table_width);
        std::string out;
        std::string rule = "|";
        for (std::size_t i = 0; i < width; ++i) rule += " --- |";
        if (!payload.has_column_header) out = row_of(std::vector<RichTexts>(width)) + "\n" + rule;
        for (const WrittenBlock& each : block.children) {
            if (!out.empty()) out += '\n';
            const bool heads = &each == block.children.data() && payload.has_column_header;
            const auto cells = payload_as<TableRowBlock>(each.payload).cells;
            out += heads ? header_of(cells) + "\n" + rule : row_of(cells);
        }
        return out;
    }

    std::string columns(const WrittenBlock& block) {
        std::string text = "<!-- columns -->";
        for (const WrittenBlock& each : block.children) {
            text += "\n\n<!-- column -->";
            if (!each.children.empty()) text += "\n\n" + write(each.children);
        }
        return text + "\n\n<!-- /columns -->";
    }

    /// What Markdown has no way to put below a block is put between marks behind it.
    std::string below(const std::vector<WrittenBlock>& children) {
        if (children.empty()) return {};
        return "\n\n<!-- below -->\n\n" + write(children) + "\n\n<!-- /below -->";
    }

    static std::string heading(int level, const WrittenBlock& block) {
        return std::string(static_cast<std::size_t>(level), '#') + " " +
               inline_markdown(texts<HeadingBlock>(block), LineBreaks::as_tags);
    }

    static std::string leaf(const WrittenBlock& block) {
        switch (block.type) {
            case BlockType::heading_1: return heading(1, block);
            case BlockType::heading_2: return heading(2, block);
            case BlockType::heading_3: return heading(3, block);
            case BlockType::heading_4: return heading(4, block);
            case BlockType::paragraph: return paragraph(texts<ParagraphBlock>(block));
            case BlockType::code: {
                const auto payload = payload_as<CodeBlock>(block.payload);
                return fenced(plain_text_of(payload.rich_text), info_of(payload.language));
            }
            case BlockType::equation:
                return fenced(payload_as<EquationBlock>(block.payload).expression, "math");
            case BlockType::divider: return "---";
            case BlockType::breadcrumb: return std::string(breadcrumb_mark);
            case BlockType::table_of_contents: return std::string(contents_mark);
            case BlockType::card_ref:
                return "<!-- card " + payload_as<CardRefBlock>(block.payload).card_id.str() +
                       " -->";
            case BlockType::table_row:
                return row_of(payload_as<TableRowBlock>(block.payload).cells);
            case BlockType::column: return "<!-- column -->";
            default: return linked(block);
        }
    }

    static std::string linked(const WrittenBlock& block) {
        if (block.type == BlockType::bookmark || block.type == BlockType::embed) {
            const auto payload = payload_as<LinkedBlock>(block.payload);
            return link(caption_or(payload.caption, payload.url.str()), payload.url.str());
        }
        if (block.type == BlockType::file) {
            const auto payload = payload_as<FileBlock>(block.payload);
            const std::string url = media_url(payload);
            const std::string called = payload.name.empty() ? url : payload.name;
            return link(caption_or(payload.caption, called), url);
        }
        const auto payload = payload_as<MediaBlock>(block.payload);
        const std::string url = media_url(payload);
        if (block.type != BlockType::image) return link(caption_or(payload.caption, url), url);
        return "!" + link(markdown_of(rich_text_of(plain_text_of(payload.caption))), url);
    }
};

}  // namespace

std::string markdown_of(const std::vector<WrittenBlock>& blocks) { return Writer().write(blocks); }

std::string markdown_of_alone(const WrittenBlock& block) {
    // A table shows nothing without its rows; columns and rows are told apart by their parents.
    if (block.type == BlockType::table) return Writer().block(block, 1);
    return Writer().block({block.id, block.type, block.payload, {}}, 1);
}

std::string markdown_of(const RichTexts& texts) {
    return inline_markdown(texts, LineBreaks::as_tags);
}

}  // namespace svc::content

// The inline content of Markdown as rich text.

#include "modules/content/lib/inline_markdown.hpp"
#include "modules/content/lib/utf8.hpp"

#include <cmark-gfm.h>

#include <algorithm>

namespace svc::content {

namespace {

std::string_view text_of(const char* text) { return text ? std::string_view(text) : ""; }

/// A target that names somebody or something here, as a mention.
std::optional<Mention> mention_of(std::string_view target) {
    Mention mention;
    const auto rest = [&](std::string_view scheme) { return target.substr(scheme.size()); };
    if (target.starts_with("user:")) {
        const auto id = Uuid::parse(rest("user:"));
        if (!id) return std::nullopt;
        mention.type = MentionType::user;
        mention.user.emplace().id = *id;
    } else if (target.starts_with("card:")) {
        const auto id = Uuid::parse(rest("card:"));
        if (!id) return std::nullopt;
        mention.type = MentionType::page;
        mention.page.emplace().id = *id;
    } else if (target.starts_with("date:")) {
        const std::string_view span = rest("date:");
        const auto slash = span.find('/');
        const auto start = Moment::parse(span.substr(0, slash));
        if (!start) return std::nullopt;
        mention.type = MentionType::date;
        mention.date.emplace().start = *start;
        if (slash != span.npos) {
            mention.date->end = Moment::parse(span.substr(slash + 1));
            if (!mention.date->end) return std::nullopt;
        }
    } else {
        return std::nullopt;
    }
    return mention;
}

class InlineReader {
public:
    RichTexts read(cmark_node* parent) {
        read_below(parent, 0);
        find_equations();
        return cut();
    }

private:
    static constexpr int deepest = 64;

    void read_below(cmark_node* parent, int depth) {
        if (depth > deepest) return;  // whoever marks a text so often does without the rest
        for (cmark_node* at = cmark_node_first_child(parent); at; at = cmark_node_next(at))
            read_one(at, depth);
    }

    void read_one(cmark_node* node, int depth) {
        const std::string_view kind = text_of(cmark_node_get_type_string(node));
        if (kind == "text") add(text_of(cmark_node_get_literal(node)));
        else if (kind == "softbreak") add(" ");
        else if (kind == "linebreak") add("\n");
        else if (kind == "code") add_code(text_of(cmark_node_get_literal(node)));
        else if (kind == "html_inline") take_tag(text_of(cmark_node_get_literal(node)));
        else if (kind == "emph") with(&Annotations::italic, node, depth);
        else if (kind == "strong") with(&Annotations::bold, node, depth);
        else if (kind == "strikethrough") with(&Annotations::strikethrough, node, depth);
        else if (kind == "link" || kind == "image") add_link(node, depth);
        else read_below(node, depth + 1);
    }

    void add(std::string_view text) {
        if (text.empty()) return;
        RichText item = text_item(std::string(text), look_);
        item.text->link = link_;
        if (link_) item.href = link_->url.str();
        if (!items_.empty() && items_.back().text && items_.back().text->link == link_ &&
            items_.back().annotations == look_) {
            items_.back().plain_text += text;
            items_.back().text->content += text;
        } else {
            items_.push_back(std::move(item));
        }
    }

    void add_code(std::string_view text) {
        const bool outer = std::exchange(look_.code, true);
        add(text);
        look_.code = outer;
    }

    void with(bool Annotations::*mark, cmark_node* node, int depth) {
        const bool outer = std::exchange(look_.*mark, true);
        read_below(node, depth + 1);
        look_.*mark = outer;
    }

    void add_link(cmark_node* node, int depth) {
        const std::string_view target = text_of(cmark_node_get_url(node));
        const std::size_t from = items_.size();
        auto outer = std::exchange(link_, std::nullopt);
        const auto mention = mention_of(target);
        if (const auto url = LinkUrl::parse(target)) link_ = TextLink{*url};
        if (mention) items_.push_back(RichText{});  // keeps what follows apart
        read_below(node, depth + 1);
        link_ = std::move(outer);
        if (!mention) return;
        std::string said;
        for (std::size_t i = from; i < items_.size(); ++i) said += items_[i].plain_text;
        RichText item;
        item.type = RichTextType::mention;
        item.mention = mention;
        item.plain_text = said;
        item.annotations = items_.size() > from + 1 ? items_[from + 1].annotations : look_;
        items_.resize(from);
        items_.push_back(std::move(item));
    }

    void take_tag(std::string_view tag) {
        std::string name(tag);
        std::ranges::transform(name, name.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        });
        struct Known {
            std::string_view name;
            bool Annotations::*mark;
        };
        static constexpr std::array known{
            Known{"b", &Annotations::bold},
            Known{"strong", &Annotations::bold},
            Known{"i", &Annotations::italic},
            Known{"em", &Annotations::italic},
            Known{"s", &Annotations::strikethrough},
            Known{"del", &Annotations::strikethrough},
            Known{"u", &Annotations::underline},
        };
        for (const Known& each : known) {
            if (name == "<" + std::string(each.name) + ">") look_.*each.mark = true;
            else if (name == "</" + std::string(each.name) + ">") look_.*each.mark = false;
            else continue;
            return;
        }
        if (name == "<br>" || name == "<br/>" || name == "<br />") add("\n");
        else if (name.starts_with("<!--")) items_.push_back(text_item("", look_));  // keeps apart
        else add(tag);
    }

    /// A code span between two dollar signs is a formula.
    void find_equations() {
        for (std::size_t i = 1; i + 1 < items_.size(); ++i) {
            RichText &before = items_[i - 1], &code = items_[i], &after = items_[i + 1];
            const bool formula = before.text && code.text && after.text && code.annotations.code &&
                                 !before.annotations.code && !after.annotations.code &&
                                 before.plain_text.ends_with('$') &&
                                 after.plain_text.starts_with('$') &&
                                 utf8::first(code.plain_text, 1000) == code.plain_text;
            if (!formula) continue;
            before.plain_text.pop_back();
            before.text->content.pop_back();
            after.plain_text.erase(0, 1);
            after.text->content.erase(0, 1);
            code.type = RichTextType::equation;
            code.equation = InlineEquation{code.plain_text};
            code.text.reset();
            code.href.reset();
            code.annotations.code = false;
        }
    }

    /// Items of the length that is allowed, none of them empty.
    RichTexts cut() {
        RichTexts out;
        for (RichText& each : items_) {
            if (!each.text) {
                out.push_back(std::move(each));
                continue;
            }
            std::string_view rest = each.plain_text;
            while (!rest.empty()) {
                const std::string_view part = utf8::first(rest, 2000);
                RichText item = each;
                item.plain_text = item.text->content = part;
                out.push_back(std::move(item));
                rest.remove_prefix(part.size());
            }
        }
        return out;
    }

    RichTexts items_;
    Annotations look_;
    std::optional<TextLink> link_;
};

}  // namespace

RichTexts inline_text(cmark_node* parent) { return InlineReader().read(parent); }

}  // namespace svc::content

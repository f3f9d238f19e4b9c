#include "modules/content/parts/rich_text.hpp"

#include "modules/content/parts/utf8.hpp"

#include <algorithm>

namespace svc::content {

bool format::link::accept(std::string& text) {
    if (text.size() > 2000) return false;
    const bool printable =
        std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c != 0x7F; });
    if (!printable) return false;
    if (Url::parse(text)) return true;
    static constexpr std::string_view mail = "mailto:";
    if (text.size() <= mail.size()) return false;
    return std::equal(mail.begin(), mail.end(), text.begin(), [](char a, char b) {
        return a == (b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b);
    });
}

namespace {

/// Sets `type` to the only alternative that is given; anything else is refused.
template <class Type>
void settle_type(
    Reader& reader,
    std::optional<Type>& type,
    std::initializer_list<std::pair<Type, bool>> alternatives,
    std::string_view what
) {
    const auto given =
        std::ranges::count_if(alternatives, [](const auto& each) { return each.second; });
    const auto found =
        std::ranges::find_if(alternatives, [](const auto& each) { return each.second; });
    if (given != 1) {
        std::string message = "Value error, ";
        message.append(what).append(given == 0 ? " lacks its content" : " has several contents");
        reader.reject("value_error", message);
    } else if (type && *type != found->first) {
        std::string message = "Value error, type does not name the member that is given";
        reader.reject("value_error", message);
    } else {
        type = found->first;
    }
}

std::string shown(const MentionedDate& date) {
    std::string text = date.start.str();
    if (date.end) text += " → " + date.end->str();
    return text;
}

std::string shown(const Mention& mention, const Names& names) {
    if (mention.user) {
        const auto found = names.users.find(mention.user->id);
        return "@" + (found == names.users.end() ? std::string("somebody") : found->second);
    }
    if (mention.date) return shown(*mention.date);
    if (!mention.page) return {};
    const auto found = names.pages.find(mention.page->id);
    return found == names.pages.end() ? std::string("card") : found->second;
}

}  // namespace

void Named::add(const Named& more) {
    users.insert(users.end(), more.users.begin(), more.users.end());
    pages.insert(pages.end(), more.pages.begin(), more.pages.end());
    files.insert(files.end(), more.files.begin(), more.files.end());
}

void settle(Reader& reader, RichTexts& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        RichText& each = texts[i];
        auto step = reader.at(i);
        settle_type(
            reader,
            each.type,
            {{RichTextType::text, each.text.has_value()},
             {RichTextType::mention, each.mention.has_value()},
             {RichTextType::equation, each.equation.has_value()}},
            "an item of rich text"
        );
        if (!each.mention) continue;
        auto inner = reader.at("mention");
        settle_type(
            reader,
            each.mention->type,
            {{MentionType::user, each.mention->user.has_value()},
             {MentionType::date, each.mention->date.has_value()},
             {MentionType::page, each.mention->page.has_value()}},
            "a mention"
        );
    }
}

void work_out(RichTexts& texts, const Names& names) {
    for (RichText& each : texts) {
        each.href.reset();
        if (each.text) {
            each.plain_text = each.text->content;
            if (each.text->link) each.href = each.text->link->url.str();
        } else if (each.equation) {
            each.plain_text = each.equation->expression;
        } else if (each.mention) {
            each.plain_text = shown(*each.mention, names);
        }
    }
}

void gather(const RichTexts& texts, Named& into) {
    for (const RichText& each : texts) {
        if (!each.mention) continue;
        if (each.mention->user) into.users.push_back(each.mention->user->id);
        if (each.mention->page) into.pages.push_back(each.mention->page->id);
    }
}

std::string plain_text_of(const RichTexts& texts) {
    std::string plain;
    for (const RichText& each : texts) plain += each.plain_text;
    return plain;
}

RichText text_item(std::string content, const Annotations& annotations) {
    RichText item;
    item.type = RichTextType::text;
    item.plain_text = content;
    item.text = TextContent{std::move(content), std::nullopt};
    item.annotations = annotations;
    return item;
}

RichTexts rich_text_of(std::string_view plain) {
    RichTexts texts;
    while (!plain.empty()) {
        const std::string_view part = utf8::first(plain, 2000);
        texts.push_back(text_item(std::string(part)));
        plain.remove_prefix(part.size());
    }
    return texts;
}

}  // namespace svc::content

#include "modules/lib/rich_text/rich_text.hpp"

#include <algorithm>

#include <boost/json.hpp>

namespace svc::rich_text {

bool link_format::accept(std::string& text) {
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
void resolve_type(
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
        std::string message(what);
        message.append(given == 0 ? " lacks its content" : " has several contents");
        reader.reject("value_error", message);
    } else if (type && *type != found->first) {
        std::string message = "Type does not name the member that is given";
        reader.reject("value_error", message);
    } else {
        type = found->first;
    }
}

std::string shown(const DateValue& date) {
    std::string text = date.start.str();
    if (date.end) text += " → " + date.end->str();
    return text;
}

std::string shown(const Mention& mention, const ReferenceNames& names) {
    if (mention.user) {
        const auto found = names.users.find(mention.user->id);
        return "@" + (found == names.users.end() ? std::string("somebody") : found->second);
    }
    if (mention.date) return shown(*mention.date);
    if (!mention.page) return {};
    const auto found = names.pages.find(mention.page->id);
    return found == names.pages.end() ? std::string("card") : found->second;
}

/// The id of what `in` holds under that name.
std::optional<Uuid> id_within(const json::value& in, std::string_view name) {
    const auto* held = in.as_object().if_contains(name);
    const auto* whole = held ? held->if_object() : nullptr;
    const auto* id = whole ? whole->if_contains("id") : nullptr;
    return id && id->is_string() ? Uuid::parse(id->get_string()) : std::nullopt;
}

}  // namespace

void References::add(const References& more) {
    users.insert(users.end(), more.users.begin(), more.users.end());
    pages.insert(pages.end(), more.pages.begin(), more.pages.end());
    files.insert(files.end(), more.files.begin(), more.files.end());
}

void normalize(Reader& reader, RichText& item) {
    resolve_type(
        reader,
        item.type,
        {{RichTextType::text, item.text.has_value()},
         {RichTextType::mention, item.mention.has_value()},
         {RichTextType::equation, item.equation.has_value()}},
        "an item of rich text"
    );
    if (!item.mention) return;
    auto inner = reader.at("mention");
    resolve_type(
        reader,
        item.mention->type,
        {{MentionType::user, item.mention->user.has_value()},
         {MentionType::date, item.mention->date.has_value()},
         {MentionType::page, item.mention->page.has_value()}},
        "a mention"
    );
}

void normalize(Reader& reader, RichTexts& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto step = reader.at(i);
        normalize(reader, texts[i]);
    }
}

void resolve(RichText& item, const ReferenceNames& names) {
    item.href.reset();
    if (item.text) {
        item.plain_text = item.text->content;
        if (item.text->link) item.href = item.text->link->url.str();
    } else if (item.equation) {
        item.plain_text = item.equation->expression;
    } else if (item.mention) {
        item.plain_text = shown(*item.mention, names);
    }
}

void resolve(RichTexts& texts, const ReferenceNames& names) {
    for (RichText& each : texts) resolve(each, names);
}

void collect_references(const RichTexts& texts, References& into) {
    for (const RichText& each : texts) {
        if (!each.mention) continue;
        if (each.mention->user) into.users.push_back(each.mention->user->id);
        if (each.mention->page) into.pages.push_back(each.mention->page->id);
    }
}

void keep_names(const json::value& stored, ReferenceNames& into) {
    if (const auto* list = stored.if_array())
        for (const json::value& each : *list) keep_names(each, into);
    const auto* object = stored.if_object();
    if (!object) return;
    for (const auto& [key, value] : *object) keep_names(value, into);
    const auto* mention = object->if_contains("mention");
    const auto* plain = object->if_contains("plain_text");
    if (!mention || !mention->is_object() || !plain || !plain->is_string()) return;
    std::string text(plain->get_string());
    if (text.starts_with('@')) text.erase(0, 1);
    if (const auto user = id_within(*mention, "user")) into.users.emplace(*user, text);
    if (const auto page = id_within(*mention, "page")) into.pages.emplace(*page, text);
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

}  // namespace svc::rich_text

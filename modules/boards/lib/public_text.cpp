#include "modules/boards/lib/public_text.hpp"
#include "svc/as_json.hpp"

#include "svc/json.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace svc::boards {

namespace {

constexpr std::string_view hidden = "[hidden]";
// The longer ones are told wherever they stand; the shorter ones end many a word (default_…).
constexpr std::array<std::string_view, 2> secret_prefixes{"svc_", "whsec_"};
constexpr std::array<std::string_view, 2> short_prefixes{"lt_", "sl_"};
constexpr std::size_t shortest_secret = 20;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/// What an address may be made of, besides the @; letters beyond ASCII among it. No sign that JSON
/// knows is.
bool is_of_address(char c) {
    constexpr std::string_view signs = ".!#$%&'*+/=?^`{|}~";
    return is_word(c) || static_cast<unsigned char>(c) >= 0x80 || signs.find(c) != signs.npos;
}

/// The braces are JSON's, and no address people write down has them.
bool is_part(char c) { return is_of_address(c) && c != '{' && c != '}'; }

bool is_part_or_at(char c) { return is_part(c) || c == '@'; }

/// How many signs the @ takes that begins there, which links write as %40; 0 when none does.
std::size_t size_of_at(std::string_view text) {
    if (text.starts_with('@')) return 1;
    return text.starts_with("%40") ? 3 : 0;
}

template <class Is>
std::string_view run_at(std::string_view text, std::size_t at, Is is) {
    std::size_t end = at;
    while (end < text.size() && is(text[end])) ++end;
    return text.substr(at, end - at);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The secret that begins there; empty when none does. `before` is the sign in front of it.
std::string_view secret_at(std::string_view text, std::size_t at, char before) {
    const auto begins = [&](std::string_view prefix) {
        return text.substr(at).starts_with(prefix);
    };
    if (std::ranges::none_of(secret_prefixes, begins) &&
        (is_letter(before) || std::ranges::none_of(short_prefixes, begins)))
        return {};
    const auto word = run_at(text, at, is_word);
    return word.size() >= word.find('_') + 1 + shortest_secret ? word : std::string_view();
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// Without what marks a style or a link, which may begin within a word: the text that people see.
std::string unmarked(std::string_view word) {
    // Where the last one closes: looked for once, and not by everything of a hostile word that
    // opens.
    const auto last_tag = word.rfind('>'), last_target = word.rfind(')');
    const auto closes = [](std::size_t last, std::size_t at) {
        return last != std::string_view::npos && at < last;
    };
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] == '<' && closes(last_tag, i)) i = word.find('>', i);
        else if (word.substr(i).starts_with("](") && closes(last_target, i)) i = word.find(')', i);
        else if (constexpr std::string_view signs = "*~`[]"; signs.find(word[i]) == signs.npos)
            out += word[i];
    }
    return out;
}

/// Without the backslashes that take the meaning from what follows them.
std::string unescaped(std::string_view word) {
    constexpr std::string_view signs = R"(!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~)";
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool escapes =
            word[i] == '\\' && i + 1 < word.size() && signs.find(word[i + 1]) != signs.npos;
        if (escapes) ++i;
        out += word[i];
    }
    return out;
}

}  // namespace

std::string with_whole_words(std::string_view markdown) {
    std::string out;
    for (std::size_t at = 0; at < markdown.size();) {
        const auto word = run_at(markdown, at, [](char c) { return !is_space(c); });
        const std::string bare = unescaped(word), plain = unmarked(bare);
        const std::string open = public_text(plain), half_open = public_text(bare);
        if (open != plain) out += unmarked(half_open) == unmarked(open) ? bare : plain;
        else out += half_open == bare ? word : bare;
        at += word.size();
        if (at < markdown.size()) out += markdown[at++];
    }
    return out;
}

RichTexts with_whole_words(const RichTexts& texts) {
    std::string by_itself;
    for (const RichText& each : texts) by_itself += public_text(each.plain_text);
    const std::string together = public_text(plain_text_of(texts));
    return together == by_itself ? texts : RichTexts{rich_text::text_item(together)};
}

JsonText with_whole_words(const JsonText& value) {
    static constexpr std::string_view type = "rich_text";
    if (value.text.find(type) == value.text.npos) return value;
    json::value whole = parse_json(value.text);
    if (whole.at("type") != json::value(type)) return value;
    AsJson<RichTexts> texts;
    texts.text = json::serialize(whole.at(type));
    whole.as_object()[type] = parse_json(AsJson(with_whole_words(texts.parsed())).text);
    return {json::serialize(whole)};
}

std::string public_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    std::size_t escaped = 0;  // how much of `out` ends in an escape: no word reaches back over it
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\\') {
            const std::size_t size = text.substr(at).starts_with("\\u") ? 6 : 2;
            out += text.substr(at, size);
            at += size;
            escaped = out.size();
            continue;
        }
        const std::size_t sign = size_of_at(text.substr(at));
        if (sign > 0) {
            std::size_t from = out.size();
            while (from > escaped && is_part(out[from - 1])) --from;
            const bool quoted = out.ends_with("\\\"");  // "ada"@example.com
            const bool named = from < out.size() || quoted;
            const auto domain = named ? run_at(text, at + sign, is_part_or_at) : "";
            if (!domain.empty()) {
                out.resize(from);
                out += hidden;
                at += sign + domain.size();
                continue;
            }
        }
        const char before = out.size() == escaped ? ' ' : out.back();
        if (const auto secret = secret_at(text, at, before); !secret.empty()) {
            out += hidden;
            at += secret.size();
            continue;
        }
        out += text[at++];
    }
    return out;
}

}  // namespace svc::boards

#include "modules/boards/parts/public_text.hpp"

#include <algorithm>
#include <array>

namespace svc::boards {

namespace {

constexpr std::string_view hidden = "[hidden]";
constexpr std::array<std::string_view, 4> prefixes{"svc_", "lt_", "sl_", "whsec_"};
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

bool begins_secret(std::string_view word) {
    return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
        return word.starts_with(prefix) && word.size() >= prefix.size() + shortest_secret;
    });
}

template <class Is>
std::string_view run_at(std::string_view text, std::size_t at, Is is) {
    std::size_t end = at;
    while (end < text.size() && is(text[end])) ++end;
    return text.substr(at, end - at);
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

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

bool may_be_hidden(std::string_view word) {
    return word.find('@') != word.npos || std::ranges::any_of(prefixes, [&](auto prefix) {
               return word.find(prefix) != word.npos;
           });
}

}  // namespace

std::string with_whole_words(std::string_view markdown) {
    std::string out;
    for (std::size_t at = 0; at < markdown.size();) {
        const auto word = run_at(markdown, at, [](char c) { return !is_space(c); });
        const std::string bare = unescaped(word);
        if (may_be_hidden(bare)) out += bare;
        else out += word;
        at += word.size();
        if (at < markdown.size()) out += markdown[at++];
    }
    return out;
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
        if (text[at] == '@') {
            const auto domain = run_at(text, at + 1, is_part_or_at);
            std::size_t from = out.size();
            while (from > escaped && is_part(out[from - 1])) --from;
            const bool quoted = out.ends_with("\\\"");  // "ada"@example.com
            if ((from < out.size() || quoted) && !domain.empty()) {
                out.resize(from);
                out += hidden;
                at += 1 + domain.size();
                continue;
            }
        }
        const bool begins = out.size() == escaped || !is_word(out.back());
        const auto word = begins ? run_at(text, at, is_word) : std::string_view();
        if (begins_secret(word)) {
            out += hidden;
            at += word.size();
            continue;
        }
        out += text[at++];
    }
    return out;
}

}  // namespace svc::boards

// Text, and what a field's rules ask of it.

#include "decl/reader.hpp"
#include "decl/utf8.hpp"

#include <re2/re2.h>
#include <boost/json/string.hpp>

#include <map>
#include <mutex>
#include <shared_mutex>

namespace svc {

namespace {

const RE2& compiled(std::string_view pattern) {
    static std::shared_mutex mutex;
    static std::map<std::string, const RE2, std::less<>> known;
    {
        const std::shared_lock lock(mutex);
        const auto found = known.find(pattern);
        if (found != known.end()) return found->second;
    }
    const std::unique_lock lock(mutex);
    const re2::StringPiece text(pattern.data(), pattern.size());
    const auto [entry, added] = known.try_emplace(std::string(pattern), text, RE2::Quiet);
    if (!entry->second.ok())
        throw std::logic_error(
            "the pattern " + entry->first + " is wrong: " + entry->second.error()
        );
    return entry->second;
}

bool has_right_length(
    Reader& reader, const Rules& rules, const json::value& in, std::string_view text
) {
    if (rules.shortest == 0 && text.size() <= rules.longest) return true;
    const std::size_t length = decl::utf8::length(text);
    if (length < rules.shortest) {
        reader.reject(
            "string_too_short",
            "Should have at least " + decl::plural(rules.shortest, "character"),
            &in,
            decl::ctx_of("min_length", static_cast<std::int64_t>(rules.shortest))
        );
        return false;
    }
    if (length > rules.longest) {
        reader.reject(
            "string_too_long",
            "Should have at most " + decl::plural(rules.longest, "character"),
            &in,
            decl::ctx_of("max_length", static_cast<std::int64_t>(rules.longest))
        );
        return false;
    }
    return true;
}

bool follows(Reader& reader, const Rules& rules, const json::value& in, std::string_view text) {
    if (rules.pattern.empty() || decl::matches_whole(rules.pattern, text)) return true;
    reader.reject(
        "string_pattern_mismatch",
        "Should match the pattern '" + std::string(rules.pattern) + "'",
        &in,
        decl::ctx_of("pattern", rules.pattern)
    );
    return false;
}

}  // namespace

bool decl::matches_whole(std::string_view pattern, std::string_view text) {
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), compiled(pattern));
}

bool decl::accept_text(
    Reader& reader, const Rules& rules, const json::value& in, std::string& out
) {
    const auto* string = in.if_string();
    if (!string) {
        reader.reject("string_type", "Should be a string", &in);
        return false;
    }
    std::string_view text = *string;
    if (!reader.trusted) {
        if (text.find('\0') != text.npos) {
            reject_value(reader, "Text cannot contain NUL", nullptr);
            return false;
        }
        if (rules.trimmed) text = utf8::trimmed(text);
        if (rules.trimmed && utf8::has_control(text, rules.multiline)) {
            reject_value(
                reader,
                rules.multiline ? "Text cannot contain control characters"
                                : "A text of one line cannot contain control characters",
                &in
            );
            return false;
        }
        if (!has_right_length(reader, rules, in, text) || !follows(reader, rules, in, text))
            return false;
    }
    out.assign(text);
    return true;
}

void Json<std::string>::read(
    Reader& reader, const Rules& rules, const json::value& in, std::string& out
) {
    decl::accept_text(reader, rules, in, out);
}
void Json<std::string>::write(const std::string& in, std::string& out) { write_text(in, out); }
bool Json<std::string>::empty(const std::string& in) { return in.empty(); }

}  // namespace svc

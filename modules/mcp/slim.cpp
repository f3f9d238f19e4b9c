#include "modules/mcp/slim.hpp"

#include <algorithm>

/// Works on the text, not on a tree of it: numbers stay as they were written, and a large answer
/// is walked once.
namespace svc::mcp {

namespace {

using Names = std::set<std::string_view>;

const Names of_every_card{"object", "id", "version"};
const Names of_every_page{"object", "results", "next_cursor", "has_more"};

/// Copies JSON that the kernel wrote, so it is well formed.
class Copier {
public:
    Copier(std::string_view in, const Slimming& how)
        : in_(in), how_(how), org_('"' + how.org + '"') {
        out_.reserve(in.size());
    }
    std::string whole() && {
        value();
        return std::move(out_);
    }

private:
    void value() {
        skip_space();
        switch (at_ < in_.size() ? in_[at_] : '\0') {
            case '{': return object();
            case '[': return array();
            default: out_ += scalar();
        }
    }

    void object() {
        const bool root = out_.empty();
        const bool page = root && how_.page;
        const bool card = in_.substr(at_).starts_with(R"({"object":"card",)") &&
                          (!root || !how_.whole_root || how_.fields);
        open('{');
        while (!closes('}')) {
            const auto key = scalar();
            take(':');
            skip_space();
            const auto name = key.substr(1, key.size() - 2);
            if (is_left_out(name) || (page && !of_every_page.contains(name)) ||
                (card && !is_of_card(name))) {
                as_it_is();
                continue;
            }
            if (out_.back() != '{') out_ += ',';
            (out_ += key) += ':';
            if (how_.opaque.contains(std::string(name))) out_ += as_it_is();
            else value();
        }
        out_ += '}';
    }

    bool stands_here(std::string_view text) const { return in_.substr(at_).starts_with(text); }

    bool is_left_out(std::string_view name) const {
        return stands_here("null") || (name == "org_id" && !how_.org.empty() && stands_here(org_));
    }

    /// Whether a card that is not whole has this member, whose value stands here.
    bool is_of_card(std::string_view name) const {
        if (of_every_card.contains(name)) return true;
        if (how_.fields)
            return how_.fields->contains(std::string(name)) ||
                   (name == "properties_omitted" && how_.fields->contains("properties"));
        if (!summary_of_card().contains(name)) return false;
        return !stands_here("false") && !stands_here("[]") && !stands_here("{}") &&
               !stands_here("\"none\"");
    }

    void array() {
        open('[');
        while (!closes(']')) {
            if (out_.back() != '[') out_ += ',';
            value();
        }
        out_ += ']';
    }

    /// A value with everything in it.
    std::string_view as_it_is() {
        const auto from = at_;
        int depth = 0;
        do {
            skip_space();
            const char c = in_[at_];
            if (c == '{' || c == '[') ++depth, ++at_;
            else if (c == '}' || c == ']') --depth, ++at_;
            else if (c == ',' || c == ':') ++at_;
            else scalar();
        } while (depth > 0 && at_ < in_.size());
        return in_.substr(from, at_ - from);
    }

    /// A text, a number or a word.
    std::string_view scalar() {
        skip_space();
        const auto from = at_;
        if (at_ < in_.size() && in_[at_] == '"') {
            for (++at_; at_ < in_.size() && in_[at_] != '"'; ++at_)
                if (in_[at_] == '\\') ++at_;
            at_ = std::min(at_ + 1, in_.size());
        } else {
            // At least one character, so that every loop here comes to an end.
            at_ = std::min(in_.find_first_of(",:]} \t\r\n", at_ + 1), in_.size());
        }
        return in_.substr(from, at_ - from);
    }

    void open(char bracket) {
        ++at_;
        out_ += bracket;
    }
    /// Steps over what stands between elements; true at the end.
    bool closes(char bracket) {
        skip_space();
        if (at_ < in_.size() && in_[at_] == ',') ++at_;
        skip_space();
        if (at_ < in_.size() && in_[at_] != bracket) return false;
        ++at_;
        return true;
    }
    void take(char c) {
        skip_space();
        if (at_ < in_.size() && in_[at_] == c) ++at_;
    }
    void skip_space() { at_ = std::min(in_.find_first_not_of(" \t\r\n", at_), in_.size()); }

    std::string_view in_;
    const Slimming& how_;
    const std::string org_;  // as it stands in JSON
    std::string out_;
    std::size_t at_ = 0;
};

}  // namespace

const Names& summary_of_card() {
    static const Names names{
        "object",
        "id",
        "key",
        "title",
        "column_id",
        "labels",
        "assignees",
        "due",
        "priority",
        "blocked",
        "lease",
        "completed_at",
        "last_edited_time",
        "version",
        "in_trash",
        "is_archived"
    };
    return names;
}

std::string slim(std::string_view json, const Slimming& how) { return Copier(json, how).whole(); }

}  // namespace svc::mcp

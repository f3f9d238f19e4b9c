#include "modules/mcp/catalog.hpp"

#include <algorithm>

/// Works on the text, not on a tree of it: numbers stay as they were written, and a large answer
/// is walked once.
namespace svc::mcp {

namespace {

/// Copies JSON that the kernel wrote, so it is well formed.
class Copier {
public:
    Copier(std::string_view in, const std::set<std::string>& opaque) : in_(in), opaque_(opaque) {
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
        open('{');
        while (!closes('}')) {
            const auto key = scalar();
            take(':');
            skip_space();
            if (in_.substr(at_).starts_with("null")) {
                at_ += 4;
                continue;
            }
            if (out_.back() != '{') out_ += ',';
            (out_ += key) += ':';
            if (is_opaque(key)) out_ += as_it_is();
            else value();
        }
        out_ += '}';
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

    bool is_opaque(std::string_view quoted) const {
        return opaque_.contains(std::string(quoted.substr(1, quoted.size() - 2)));
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
    const std::set<std::string>& opaque_;
    std::string out_;
    std::size_t at_ = 0;
};

}  // namespace

std::string without_unset(std::string_view json, const std::set<std::string>& opaque) {
    return Copier(json, opaque).whole();
}

}  // namespace svc::mcp

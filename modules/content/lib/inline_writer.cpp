// Rich text as Markdown.

#include "modules/content/lib/inline_markdown.hpp"

#include <algorithm>

namespace svc::content {

namespace {

bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

using namespace std::string_view_literals;

/// White space beyond ASCII, which takes the meaning from a mark that stands beside it.
constexpr std::array<std::string_view, 19> wide_spaces{
    "\xC2\x85",
    "\u00a0",
    "\u1680",
    "\u2000",
    "\u2001",
    "\u2002",
    "\u2003",
    "\u2004",
    "\u2005",
    "\u2006",
    "\u2007",
    "\u2008",
    "\u2009",
    "\u200a",
    "\u2028",
    "\u2029",
    "\u202f",
    "\u205f",
    "\u3000"};

bool begins_with_space(std::string_view text) {
    return text.empty() || static_cast<unsigned char>(text.front()) <= 0x20 ||
           std::ranges::any_of(wide_spaces, [&](auto each) { return text.starts_with(each); });
}
bool ends_with_space(std::string_view text) {
    return text.empty() || static_cast<unsigned char>(text.back()) <= 0x20 ||
           std::ranges::any_of(wide_spaces, [&](auto each) { return text.ends_with(each); });
}

/// Writes the characters of a paragraph so that each stands for itself.
class Pen {
public:
    explicit Pen(LineBreaks breaks) : breaks_(breaks) {}

    void plain(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) put(text, i);
    }
    /// Signs that are meant as such.
    void sign(std::string_view text) {
        out_ += text;
        line_begins_ = false;
    }
    char last() const { return out_.empty() || line_begins_ ? '\n' : out_.back(); }
    std::string take() {
        guard_trailing_space();
        if (out_.ends_with("\\\n")) out_.replace(out_.size() - 2, 2, "<br>");
        return std::move(out_);
    }

private:
    void put(std::string_view text, std::size_t i) {
        const char c = text[i];
        if (c == '\n') return break_line();
        const bool begins = std::exchange(line_begins_, false);
        const char before = i > 0 ? text[i - 1] : last_of(begins);
        const char after = i + 1 < text.size() ? text[i + 1] : '\0';
        if (static_cast<unsigned char>(c) < 0x20 || (c == ' ' && begins)) return entity(c);
        if (c == '|') ++bars_;
        if (must_escape(c, before, after, begins)) out_ += '\\';
        else if ((c == '.' || c == ')') && only_digits_before()) out_ += '\\';
        out_ += c;
    }

    char last_of(bool begins) const { return begins || out_.empty() ? '\n' : out_.back(); }

    bool must_escape(char c, char before, char after, bool begins) const {
        switch (c) {
            case '\\':
            case '`':
            case '*':
            case '[':
            case ']':
            case '<':
            case '~': return true;
            case '_': return !is_alnum(before) || !is_alnum(after);
            case '&': return is_alnum(after) || after == '#';
            case '!': return after == '\0' || after == '[';
            case '#': return begins || after == '\0';
            case '+':
            case '-':
            case '=':
            case ':':
            case '>': return begins;
            // In a table's cells all of them are escaped afterwards. Nobody reads a line with very
            // many, for it could be the row of a table.
            case '|': return breaks_ == LineBreaks::as_lines && (begins || bars_ > most_bare_bars);
            default: return false;
        }
    }

    /// Behind digits alone they would begin a list.
    bool only_digits_before() const {
        constexpr std::size_t most = 9;
        const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
        std::size_t begin = out_.size();
        while (begin > 0 && out_.size() - begin <= most && is_digit(out_[begin - 1])) --begin;
        const std::size_t digits = out_.size() - begin;
        return digits > 0 && digits <= most && (begin == 0 || out_[begin - 1] == '\n');
    }

    void entity(char c) {
        out_ += "&#" + std::to_string(static_cast<int>(static_cast<unsigned char>(c))) + ";";
    }

    void break_line() {
        bars_ = 0;
        if (breaks_ == LineBreaks::as_tags) {
            guard_trailing_space();
            out_ += "<br>";
            return;
        }
        guard_trailing_space();
        // A line that is empty but for the break would end the paragraph.
        out_ += line_begins_ ? "<br>" : "\\\n";
        line_begins_ = out_.ends_with('\n');
    }

    void guard_trailing_space() {
        if (!out_.ends_with(' ')) return;
        out_.pop_back();
        entity(' ');
    }

    static constexpr std::size_t most_bare_bars = 100;

    LineBreaks breaks_;
    std::string out_;
    bool line_begins_ = true;
    std::size_t bars_ = 0;  ///< in this line so far
};

/// A text as a code span; its fence is longer than any within.
std::string code_span(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    std::size_t longest = 0, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    const bool blank = text.find_first_not_of(' ') == text.npos;
    const bool padded = text.starts_with('`') || text.ends_with('`') ||
                        (!blank && text.starts_with(' ') && text.ends_with(' '));
    const std::string pad = padded ? " " : "";
    return fence + pad + text + pad + fence;
}

/// A mark as signs, where signs are understood, and as a tag.
struct Mark {
    bool Annotations::*on;
    std::string_view sign, tag;
};
constexpr std::array marks{
    Mark{&Annotations::underline, "", "u"},
    Mark{&Annotations::strikethrough, "~~", "s"},
    Mark{&Annotations::bold, "**", "b"},
    Mark{&Annotations::italic, "*", "i"},
};

/// Where an item leads.
std::string target_of(const RichText& item) {
    if (item.text && item.text->link) return item.text->link->url.str();
    if (!item.mention) return {};
    if (item.mention->user) return "user:" + item.mention->user->id.str();
    if (item.mention->page) return "card:" + item.mention->page->id.str();
    const DateValue& date = *item.mention->date;
    return "date:" + date.start.str() + (date.end ? "/" + date.end->str() : "");
}

std::string destination(const std::string& url) {
    std::string out = "<";
    for (const char c : url) {
        if (c == '<' || c == '>' || c == '\\') out += '\\';
        if (c == '&') out += "&amp;";
        else out += c;
    }
    return out + ">";
}

class ItemWriter {
public:
    ItemWriter(Pen& pen, const RichTexts& items) : pen_(pen), items_(items) {}

    void write(std::size_t index) {
        const RichText& item = items_[index];
        if (item.plain_text.empty()) return;
        const std::string target = target_of(item);
        const bool signs = understood(index, target);
        if (!target.empty()) pen_.sign("[");
        for (const Mark& mark : marks) open(item, mark, signs);
        if (item.equation) {
            pen_.sign("$");
            pen_.sign(code_span(item.plain_text));
            pen_.sign("$");
        } else if (item.annotations.code) {
            if (pen_.last() == '$') pen_.sign("<!-- -->");  // or it would be a formula
            pen_.sign(code_span(item.plain_text));
        } else {
            pen_.plain(item.plain_text);
        }
        for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) close(item, *mark, signs);
        if (!target.empty()) pen_.sign("](" + destination(target) + ")");
    }

private:
    /// Signs are marks only where white space or certain signs are outside and none is inside.
    bool understood(std::size_t index, const std::string& target) const {
        const RichText& item = items_[index];
        if (begins_with_space(item.plain_text) || ends_with_space(item.plain_text)) return false;
        if (item.plain_text.find('\n') != std::string::npos) return false;
        if (!target.empty()) return true;
        static constexpr std::string_view before = "\n (", after = "\n .,;:!?)";
        if (before.find(pen_.last()) == before.npos) return false;
        if (index + 1 == items_.size()) return true;
        const RichText& next = items_[index + 1];
        return next.annotations == Annotations{} && target_of(next).empty() && !next.equation &&
               !next.plain_text.empty() && after.find(next.plain_text.front()) != after.npos;
    }

    void open(const RichText& item, const Mark& mark, bool signs) {
        if (!(item.annotations.*mark.on)) return;
        if (signs && !mark.sign.empty()) pen_.sign(mark.sign);
        else pen_.sign("<" + std::string(mark.tag) + ">");
    }
    void close(const RichText& item, const Mark& mark, bool signs) {
        if (!(item.annotations.*mark.on)) return;
        if (signs && !mark.sign.empty()) pen_.sign(mark.sign);
        else pen_.sign("</" + std::string(mark.tag) + ">");
    }

    Pen& pen_;
    const RichTexts& items_;
};

bool same_look(const RichText& a, const RichText& b) {
    return a.text && b.text && a.text->link == b.text->link && a.annotations == b.annotations;
}

}  // namespace

RichTexts joined(const RichTexts& texts) {
    RichTexts out;
    for (const RichText& each : texts) {
        if (each.plain_text.empty()) continue;
        if (!out.empty() && same_look(out.back(), each)) {
            out.back().plain_text += each.plain_text;
            out.back().text->content += each.plain_text;
        } else {
            out.push_back(each);
            // Color is nothing that Markdown knows.
            out.back().annotations.color = {};
            if (out.size() > 1 && same_look(out[out.size() - 2], out.back())) {
                RichText last = std::move(out.back());
                out.pop_back();
                out.back().plain_text += last.plain_text;
                out.back().text->content += last.plain_text;
            }
        }
    }
    return out;
}

std::string inline_markdown(const RichTexts& texts, LineBreaks breaks) {
    const RichTexts items = joined(texts);
    Pen pen(breaks);
    ItemWriter writer(pen, items);
    for (std::size_t i = 0; i < items.size(); ++i) writer.write(i);
    return pen.take();
}

}  // namespace svc::content

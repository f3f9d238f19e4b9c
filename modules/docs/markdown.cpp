#include "modules/docs/markdown.hpp"

#include <algorithm>
#include <vector>

namespace svc::docs {

namespace {

void add_escaped(std::string_view text, std::string& out) {
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
}

/// Lines, and what they are made of.
class Page {
public:
    explicit Page(std::string_view text) {
        while (!text.empty()) {
            const auto end = std::min(text.find('\n'), text.size());
            lines_.push_back(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    std::string whole() && {
        while (at_ < lines_.size()) block();
        return std::move(out_);
    }

private:
    void block() {
        const auto line = lines_[at_];
        if (line.empty()) ++at_;
        else if (line.starts_with("```")) code();
        else if (line.starts_with('#')) heading();
        else if (line.starts_with('|')) table();
        else if (line.starts_with("- ")) list();
        else paragraph();
    }

    void heading() {
        const auto line = lines_[at_++];
        const auto level = std::to_string(std::min<std::size_t>(line.find_first_not_of('#'), 4));
        element("h" + level, line.substr(std::min(line.find(' '), line.size() - 1) + 1));
    }

    void code() {
        out_ += "<pre>";
        for (++at_; at_ < lines_.size() && !lines_[at_].starts_with("```"); ++at_) {
            add_escaped(lines_[at_], out_);
            out_ += '\n';
        }
        ++at_;
        out_ += "</pre>\n";
    }

    /// The second line says only that the first is a heading.
    void table() {
        out_ += "<table>\n";
        row("th");
        if (at_ < lines_.size() && lines_[at_].starts_with("|-")) ++at_;
        while (at_ < lines_.size() && lines_[at_].starts_with('|')) row("td");
        out_ += "</table>\n";
    }

    void row(const std::string& cell) {
        auto line = lines_[at_++].substr(1);
        out_ += "<tr>";
        while (!line.empty()) {
            const auto end = std::min(line.find('|'), line.size());
            auto text = line.substr(0, end);
            line.remove_prefix(std::min(end + 1, line.size()));
            while (text.starts_with(' ')) text.remove_prefix(1);
            while (text.ends_with(' ')) text.remove_suffix(1);
            element(cell, text);
        }
        out_ += "</tr>\n";
    }

    void list() {
        out_ += "<ul>\n";
        while (at_ < lines_.size() && lines_[at_].starts_with("- ")) {
            std::string text(lines_[at_++].substr(2));
            while (at_ < lines_.size() && lines_[at_].starts_with("  "))
                (text += ' ') += lines_[at_++].substr(2);
            element("li", text);
        }
        out_ += "</ul>\n";
    }

    void paragraph() {
        std::string text(lines_[at_++]);
        while (at_ < lines_.size() && !lines_[at_].empty() && !lines_[at_].starts_with("```"))
            (text += ' ') += lines_[at_++];
        element("p", text);
    }

    void element(const std::string& name, std::string_view text) {
        out_ += '<' + name + '>';
        words(text);
        out_ += "</" + name + ">\n";
    }

    void words(std::string_view text) {
        while (!text.empty()) {
            const auto special = std::min(text.find_first_of("`*["), text.size());
            add_escaped(text.substr(0, special), out_);
            text.remove_prefix(special);
            if (text.empty() || between(text, "`", "code") || between(text, "**", "strong") ||
                link(text))
                continue;
            add_escaped(text.substr(0, 1), out_);
            text.remove_prefix(1);
        }
    }

    /// Writes and takes off what stands between two marks at the beginning.
    bool between(std::string_view& text, std::string_view mark, const std::string& name) {
        if (!text.starts_with(mark)) return false;
        const auto end = text.find(mark, mark.size());
        if (end == text.npos) return false;
        out_ += '<' + name + '>';
        add_escaped(text.substr(mark.size(), end - mark.size()), out_);
        out_ += "</" + name + '>';
        text.remove_prefix(end + mark.size());
        return true;
    }

    bool link(std::string_view& text) {
        const auto middle = text.find("](");
        const auto end = middle == text.npos ? middle : text.find(')', middle);
        if (!text.starts_with('[') || end == text.npos) return false;
        const auto target = text.substr(middle + 2, end - middle - 2);
        const bool served = target.starts_with('/') || target.starts_with("https://");
        if (served) {
            out_ += "<a href=\"";
            add_escaped(target, out_);
            out_ += "\">";
        }
        words(text.substr(1, middle - 1));
        if (served) out_ += "</a>";
        text.remove_prefix(end + 1);
        return true;
    }

    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string as_html(std::string_view markdown) { return Page(markdown).whole(); }

std::string title_of(std::string_view markdown) {
    const auto line = markdown.substr(0, markdown.find('\n'));
    return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
}

}  // namespace svc::docs

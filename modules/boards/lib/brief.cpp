#include "modules/boards/lib/brief.hpp"

#include <algorithm>
#include <array>

namespace svc::boards {

namespace {

// Lengths are counted in quarters of a token.
using Quarters = std::int64_t;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

Quarters length_of(std::string_view text) {
    Quarters length = 0;
    for (const char c : text)
        if (!continues(c)) length += static_cast<unsigned char>(c) < 0x80 ? 1 : 4;
    return length;
}

constexpr std::string_view cut_mark = "[…]\n";

/// The first characters that fit.
std::string_view first_of(std::string_view text, Quarters room) {
    std::size_t end = 0;
    while (end < text.size()) {
        std::size_t next = end + 1;
        while (next < text.size() && continues(text[next])) ++next;
        room -= length_of(text.substr(end, next - end));
        if (room < 0) break;
        end = next;
    }
    return text.substr(0, end);
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

/// As many whole lines as fit, from the beginning or from the end; of the first at least a piece.
std::string cut(std::string_view text, Quarters room, bool keep_end) {
    room -= length_of(cut_mark) + 1;  // a line that is cut gets an end
    if (room <= 0) return {};
    auto lines = lines_of(text);
    if (keep_end) std::ranges::reverse(lines);
    std::vector<std::string_view> kept;
    for (const auto line : lines) {
        if (length_of(line) > room) {
            if (kept.empty()) kept.push_back(first_of(line, room));
            break;
        }
        room -= length_of(line);
        kept.push_back(line);
    }
    if (keep_end) std::ranges::reverse(kept);
    std::string out;
    if (keep_end) out += cut_mark;
    for (const auto line : kept) out += line;
    if (!out.ends_with('\n')) out += '\n';
    if (!keep_end) out += cut_mark;
    return out;
}

struct Section {
    std::string heading, text;
    bool keep_end = false;
    Quarters wanted = 0, given = 0;
};

std::string_view heading_of(BriefPart part) {
    switch (part) {
        case BriefPart::specification: return "Specification";
        case BriefPart::acceptance: return "Acceptance";
        case BriefPart::blockers: return "Has to be done first";
        case BriefPart::attempts: return "Earlier attempts";
        case BriefPart::comments: return "Comments";
    }
    return {};
}

std::vector<Section> sections_of(std::vector<BriefText>& texts) {
    std::ranges::stable_sort(texts, {}, &BriefText::part);
    std::vector<Section> sections;
    std::optional<BriefPart> part;
    for (const BriefText& each : texts) {
        if (each.markdown.empty()) continue;
        if (part != each.part)
            sections.push_back({"\n## " + std::string(heading_of(each.part)) + "\n\n", {}});
        part = each.part;
        Section& section = sections.back();
        section.text += each.markdown;
        if (!section.text.ends_with('\n')) section.text += '\n';
        section.keep_end |= each.keep_end;
    }
    for (Section& each : sections) each.wanted = length_of(each.text);
    return sections;
}

/// Equal shares, the smallest first, so that what one does not need the next ones have.
void share_out(std::vector<Section>& sections, Quarters room) {
    std::vector<Section*> by_size;
    for (Section& each : sections) {
        room -= length_of(each.heading);
        by_size.push_back(&each);
    }
    std::ranges::stable_sort(by_size, {}, [](const Section* each) { return each->wanted; });
    auto left = static_cast<Quarters>(by_size.size());
    for (Section* each : by_size) {
        each->given = std::clamp<Quarters>(room / left--, 0, each->wanted);
        room -= each->given;
    }
}

}  // namespace

std::int64_t count_tokens(std::string_view text) { return (length_of(text) + 3) / 4; }

Brief compose(std::string_view head, std::vector<BriefText> texts, std::int64_t most_tokens) {
    Brief brief;
    const Quarters room = most_tokens * 4;
    brief.truncated = length_of(head) > room;
    brief.markdown = brief.truncated ? cut(head, room, false) : std::string(head);
    auto sections = sections_of(texts);
    share_out(sections, room - length_of(brief.markdown));
    for (const Section& each : sections) {
        const bool whole = each.given == each.wanted;
        brief.truncated |= !whole;
        const std::string text = whole ? each.text : cut(each.text, each.given, each.keep_end);
        if (!text.empty()) brief.markdown += each.heading + text;
    }
    brief.tokens = count_tokens(brief.markdown);
    return brief;
}

std::string one_line(std::string_view text) {
    std::string line;
    bool gap = false;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
            gap = !line.empty();
            continue;
        }
        if (std::exchange(gap, false)) line += ' ';
        line += c;
    }
    return line;
}

}  // namespace svc::boards

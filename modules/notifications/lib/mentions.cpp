#include "modules/notifications/lib/mentions.hpp"

#include <boost/json/value.hpp>

#include <set>

namespace svc::notifications {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Whom an item of rich text mentions, if anybody.
std::optional<Uuid> mentioned_by(const json::value& item) {
    boost::system::error_code nobody;
    const auto* id = item.find_pointer("/mention/user/id", nobody);
    return id && id->is_string() ? Uuid::parse(id->get_string()) : std::nullopt;
}

std::optional<Uuid> block_of(const json::object& object) {
    const auto* kind = object.if_contains("object");
    const auto* id = object.if_contains("id");
    const bool is_block = kind && kind->is_string() && kind->get_string() == "block";
    return is_block && id && id->is_string() ? Uuid::parse(id->get_string()) : std::nullopt;
}

class Mentions {
public:
    std::map<Uuid, std::vector<Mention>> found;

    /// `block` is the innermost that it is in.
    void collect(const json::value& within, const std::optional<Uuid>& block) {
        if (const auto* object = within.if_object()) {
            const auto own = block_of(*object);
            for (const auto& [name, value] : *object) collect(value, own ? own : block);
            return;
        }
        const auto* list = within.if_array();
        if (!list) return;
        std::optional<std::string> text;
        for (const json::value& each : *list) {
            const auto person = mentioned_by(each);
            if (!person) {
                collect(each, block);
                continue;
            }
            if (!seen_.emplace(*person, block).second) continue;
            if (!text) text = beginning(plain_text(within), longest_body);
            found[*person].push_back({*text, block});
        }
    }

private:
    std::set<std::pair<Uuid, std::optional<Uuid>>> seen_;
};

}  // namespace

std::string beginning(std::string_view text, std::size_t characters) {
    std::size_t size = 0, count = 0;
    for (; size < text.size() && count < characters; ++count) do
            ++size;
        while (size < text.size() && continues_character(text[size]));
    if (size == text.size()) return std::string(text);
    // One character makes room for the sign.
    do --size;
    while (size > 0 && continues_character(text[size]));
    return std::string(text.substr(0, size)) + "…";
}

std::string one_line(std::string_view text, std::size_t characters) {
    std::string line(text);
    for (char& each : line)
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7F) each = ' ';
    return beginning(line, characters);
}

std::string plain_text(const json::value& rich_text) {
    std::string out;
    if (const auto* list = rich_text.if_array())
        for (const json::value& each : *list) {
            const auto* item = each.if_object();
            const auto* text = item ? item->if_contains("plain_text") : nullptr;
            if (text && text->is_string()) out += std::string_view(text->get_string());
        }
    return out;
}

std::map<Uuid, std::vector<Mention>> mentions_in(const json::value& within) {
    Mentions mentions;
    mentions.collect(within, std::nullopt);
    return std::move(mentions.found);
}

}  // namespace svc::notifications

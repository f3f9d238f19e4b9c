#include "bus/message.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <algorithm>

namespace svc::bus {

bool is_channel(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '.' ||
               each == '_';
    });
}

std::pair<std::string_view, std::string_view> parts_of(std::string_view note) {
    const auto space = note.find(' ');
    if (space == note.npos) return {note, {}};
    return {note.substr(0, space), note.substr(space + 1)};
}

std::string MessageFormat::mark_of(std::string_view text) const {
    return hex(std::string_view(sign_(text)).substr(0, mark_length / 2));
}

std::string MessageFormat::write(std::string_view sender, std::span<const Note> notes) const {
    std::string text(sender);
    for (const Note& each : notes) (text += '\n') += each;
    return mark_of(text) + text;
}

std::optional<Message> MessageFormat::read(std::string_view text) const {
    if (text.size() < head_length) return std::nullopt;
    const auto signed_part = text.substr(mark_length);
    if (!same_secret(text.substr(0, mark_length), mark_of(signed_part))) return std::nullopt;
    Message message{std::string(signed_part.substr(0, sender_length)), {}};
    for (auto rest = signed_part.substr(sender_length); !rest.empty();) {
        rest.remove_prefix(1);
        const auto line = rest.substr(0, rest.find('\n'));
        message.notes.emplace_back(line);
        rest.remove_prefix(line.size());
    }
    return message;
}

std::string new_sender() { return hex(random_bytes(MessageFormat::sender_length / 2)); }

}  // namespace svc::bus

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The form of what servers send each other: a mark, the sender, and a line for each note.
namespace svc::bus {

/// `channel` alone, or `channel payload`.
using Note = std::string;

/// Whether it may stand in front of a note's payload.
bool is_channel(std::string_view word);
/// The two parts of a note.
std::pair<std::string_view, std::string_view> parts_of(std::string_view note);

struct Message {
    std::string sender;
    std::vector<Note> notes;
};

/// Writes and reads messages. Whoever has not the servers' key can make none that is read: anybody
/// may publish on a shared Redis. Any thread.
class MessageFormat {
public:
    static constexpr std::size_t sender_length = 16, mark_length = 32;
    /// HMAC of a text under the servers' key.
    using Sign = std::function<std::string(std::string_view)>;

    explicit MessageFormat(Sign sign) : sign_(std::move(sign)) {}

    std::string write(std::string_view sender, std::span<const Note> notes) const;
    /// Nothing when it is not what write() made under this key.
    std::optional<Message> read(std::string_view text) const;

    /// Bytes of a message without notes, and what a note adds to them.
    static constexpr std::size_t head_length = mark_length + sender_length;
    static std::size_t length_of(const Note& note) { return note.size() + 1; }

private:
    std::string mark_of(std::string_view text) const;

    Sign sign_;
};

/// A word that no other server calls itself by.
std::string new_sender();

}  // namespace svc::bus

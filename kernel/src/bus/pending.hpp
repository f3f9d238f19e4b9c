#pragma once

#include "bus/message.hpp"
#include "svc/bus.hpp"

#include <deque>
#include <unordered_set>

namespace svc::bus {

/// Notes that wait to be sent: each once, and not more than are worth it. Not for several threads.
class PendingNotes {
public:
    /// More wait only while nothing goes out; whoever would have been woken polls.
    static constexpr std::size_t most = 2'000;

    enum class Added { first, behind_others, already_there, no_room };
    Added add(Note note) {
        if (known_.contains(note)) return Added::already_there;
        if (notes_.size() >= most) return Added::no_room;
        known_.insert(note);
        notes_.push_back(std::move(note));
        return notes_.size() == 1 ? Added::first : Added::behind_others;
    }

    bool empty() const { return notes_.empty(); }
    void clear() { notes_.clear(), known_.clear(); }

    /// As many as fit into one message, the oldest first.
    std::vector<Note> take() {
        std::vector<Note> out;
        for (std::size_t length = MessageFormat::head_length; !notes_.empty();) {
            length += MessageFormat::length_of(notes_.front());
            if (length > BusConnection::longest_message) break;
            known_.erase(notes_.front());
            out.push_back(std::move(notes_.front()));
            notes_.pop_front();
        }
        return out;
    }

private:
    std::deque<Note> notes_;
    std::unordered_set<Note> known_;
};

}  // namespace svc::bus

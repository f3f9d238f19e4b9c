// Who follows which board by streams of this server, kept up to date board by board.

#include "modules/live/feed.hpp"

#include <utility>

namespace svc::live {

void Feed::tell_presence() {
    {
        const std::lock_guard lock(mutex_);
        refresh_presence();
    }
    // Whoever is left out is told the next time.
    go_round([](StreamReader& reader) { reader.tell_presence(); });
}

Present Feed::present_here() {
    const std::lock_guard lock(mutex_);
    refresh_presence();
    return here_;
}

void Feed::set_elsewhere(Present elsewhere) {
    const std::lock_guard lock(mutex_);
    const auto note_others = [this](const Present& one, const Present& other) {
        for (const auto& [board, people] : one) {
            const auto found = other.find(board);
            if (found == other.end() || found->second != people) moved_.insert(board);
        }
    };
    note_others(elsewhere_, elsewhere);
    note_others(elsewhere, elsewhere_);
    elsewhere_ = std::move(elsewhere);
}

void Feed::note_moved(const Subscription& subscription) {
    if (const auto& board = subscription.wanted->filter.board) moved_.insert(*board);
}

void Feed::refresh_presence() {
    for (const Uuid& each : std::exchange(moved_, {})) refresh_presence_on(each);
}

void Feed::refresh_presence_on(const Uuid& board) {
    std::map<Uuid, const PrincipalRef*> people;
    const auto known = boards_.find(board);
    if (known != boards_.end())
        for (const Subscription* each : known->second->attached.all)
            if (each && each->reader->stream())  // not whoever waits for a list
                people.emplace(each->reader->viewer().who().id, &each->reader->viewer().who());
    if (people.empty()) {
        here_.erase(board);
        return;
    }
    auto& told = here_[board];
    told.clear();
    for (const auto& [id, who] : people) {
        if (told.size() == most_told) break;
        Json<PrincipalRef>::write(*who, told[id]);
    }
    auto named = told;
    std::size_t total = people.size();
    if (const auto others = elsewhere_.find(board); others != elsewhere_.end())
        for (const auto& [id, who] : others->second)
            if (!people.contains(id)) named.emplace(id, who), ++total;
    write_presence(known->second->presence, named, total);
}

void Feed::write_presence(
    Presence& presence, const std::map<Uuid, std::string>& people, std::size_t total
) {
    std::string members = ",\"total\":" + std::to_string(total) + ",\"present\":[";
    std::size_t named = 0;
    for (const auto& [id, who] : people) {
        if (named == most_named) break;
        if (named++ > 0) members += ',';
        members += who;
    }
    if (presence.members == (members += ']')) return;
    presence.members = std::move(members);
    presence.version = ++numbers_;
}

}  // namespace svc::live

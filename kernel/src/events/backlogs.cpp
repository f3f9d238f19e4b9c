#include "events/backlogs.hpp"

#include <algorithm>

namespace svc::events {

namespace {

constexpr Sql read_backlogs{"events.read_backlogs", R"(
    SELECT org_id, sequence, until, position, tries FROM event_backlogs WHERE consumer = $1)"};

constexpr Sql keep_backlogs{"events.keep_backlogs", R"(
    INSERT INTO event_backlogs (org_id, consumer, sequence, until, position, tries)
    SELECT org_id, $1, sequence, until, position, tries
    FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[])
        AS b (org_id, sequence, until, position, tries)
    ON CONFLICT (org_id, consumer) DO UPDATE
    SET sequence = EXCLUDED.sequence, until = EXCLUDED.until, position = EXCLUDED.position,
        tries = EXCLUDED.tries)"};

constexpr Sql drop_backlogs{"events.drop_backlogs", R"(
    DELETE FROM event_backlogs WHERE org_id = ANY ($2::uuid[]) AND consumer = $1)"};

}  // namespace

void Backlogs::load(Tx& tx) {
    backlogs_.clear();
    running_.clear();
    changed_.clear();
    stored_.clear();
    for (Backlog& each : tx.all<Backlog>(read_backlogs, consumer_)) {
        stored_.insert(each.org_id);
        backlogs_.emplace(each.org_id, Turn{each, {}});
    }
}

void Backlogs::keep(Tx& tx) {
    using Texts = std::vector<std::string>;
    Texts orgs, sequences, untils, positions, tries, done;
    for (const Uuid& org : changed_) {
        const auto found = backlogs_.find(org);
        if (found == backlogs_.end()) {
            if (stored_.contains(org)) done.push_back(org.str());
            continue;
        }
        const Backlog& backlog = found->second.backlog;
        orgs.push_back(org.str());
        sequences.push_back(std::to_string(backlog.sequence));
        untils.push_back(std::to_string(backlog.until));
        positions.push_back(std::to_string(backlog.position));
        tries.push_back(std::to_string(backlog.tries));
    }
    if (!orgs.empty())
        tx.queue(keep_backlogs, consumer_, orgs, sequences, untils, positions, tries);
    if (!done.empty()) tx.queue(drop_backlogs, consumer_, done);
}

void Backlogs::kept() {
    for (const Uuid& org : changed_)
        if (backlogs_.contains(org)) stored_.insert(org);
        else stored_.erase(org);
    changed_.clear();
}

void Backlogs::add(const Uuid& org, std::int64_t sequence, std::int64_t position) {
    const auto [at, is_new] =
        backlogs_.try_emplace(org, Turn{{org, sequence - 1, sequence, position - 1, 0}, {}});
    at->second.backlog.until = std::max(at->second.backlog.until, sequence);
    changed_.insert(org);
}

Backlog* Backlogs::next(Clock::time_point now) {
    std::erase_if(slow_, [&](const auto& each) { return each.second <= now; });
    const auto is_slow = [&](const Uuid& org) { return slow_.contains(org); };
    const bool room_for_slow = std::ranges::count_if(running_, is_slow) < std::max(at_once_ - 1, 1);
    auto at = backlogs_.upper_bound(last_);
    for (std::size_t i = 0; i < backlogs_.size(); ++i, ++at) {
        if (at == backlogs_.end()) at = backlogs_.begin();
        if (at->second.not_before > now || running_.contains(at->first)) continue;
        if (!room_for_slow && is_slow(at->first)) continue;
        last_ = at->first;
        return &at->second.backlog;
    }
    return nullptr;
}

void Backlogs::begin_turn(const Backlog& backlog) { running_.insert(backlog.org_id); }

Backlog& Backlogs::end_turn(const Uuid& org) {
    running_.erase(org);
    return backlogs_.at(org).backlog;
}

void Backlogs::was_slow(const Uuid& org, Clock::time_point now) {
    slow_[org] = now + std::chrono::minutes(1);
}

void Backlogs::handled(Backlog& backlog, std::int64_t sequence, std::int64_t position) {
    backlog.sequence = sequence;
    backlog.position = position;
    backlog.tries = 0;
    const Uuid org = backlog.org_id;
    changed_.insert(org);
    if (sequence >= backlog.until) backlogs_.erase(org);
}

void Backlogs::pause(Backlog& backlog, Clock::time_point until) {
    backlogs_.at(backlog.org_id).not_before = until;
    changed_.insert(backlog.org_id);
}

bool Backlogs::any_failing() const {
    return std::ranges::any_of(backlogs_, [](const auto& each) {
        return each.second.backlog.tries > 0;
    });
}

std::int64_t Backlogs::position(std::int64_t seen) const {
    for (const auto& [org, turn] : backlogs_) seen = std::min(seen, turn.backlog.position);
    return seen;
}

Clock::time_point Backlogs::wakes(Clock::time_point now, Clock::time_point otherwise) const {
    for (const auto& [org, turn] : backlogs_)
        if (turn.not_before > now) otherwise = std::min(otherwise, turn.not_before);
    return otherwise;
}

}  // namespace svc::events

#include "events/gaps.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

namespace svc::events {

namespace {

/// Takes a number and the sign behind it off the front.
Xid take_number(std::string_view& text) {
    Xid number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) throw std::invalid_argument("not a snapshot: " + std::string(text));
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return number;
}

}  // namespace

Running::Running(std::string_view snapshot) {
    take_number(snapshot);  // xmin, which is the first of those that follow, or xmax
    end_ = take_number(snapshot);
    while (!snapshot.empty()) running_.push_back(take_number(snapshot));
}

bool Running::ended(Xid id) const { return id < end_ && !std::ranges::binary_search(running_, id); }

std::optional<std::vector<Xid>> Running::before(Xid before) const {
    if (before > end_) return std::nullopt;
    return std::vector(running_.begin(), std::ranges::lower_bound(running_, before));
}

Gaps::Gaps(
    std::int64_t low_water,
    std::int64_t high_water,
    std::vector<IdRange> missing,
    Xid before,
    std::size_t most
)
    : high_water_(std::max(low_water, high_water)), most_(most) {
    if (!missing.empty()) generations_.push_back({.before = before, .ranges = std::move(missing)});
}

std::int64_t Gaps::low_water() const {
    std::int64_t low = high_water_;
    for (const Generation& each : generations_) low = std::min(low, each.ranges.front().first - 1);
    return low;
}

std::size_t Gaps::size() const {
    std::size_t size = 0;
    for (const Generation& each : generations_) size += each.ranges.size();
    return size;
}

std::vector<IdRange> Gaps::youngest(std::size_t most) {
    std::vector<IdRange> out;
    for (auto each = generations_.rbegin(); each != generations_.rend(); ++each) {
        each->asked = out.size() + each->ranges.size() <= most;
        if (each->asked) out.insert(out.end(), each->ranges.begin(), each->ranges.end());
    }
    return out;
}

std::vector<IdRange> Gaps::due(const Running& running) {
    std::vector<IdRange> out;
    for (Generation& each : generations_) {
        if (each.asked) continue;
        each.asked = !each.waits ||
                     std::ranges::any_of(*each.waits, [&](Xid id) { return running.ended(id); });
        if (each.asked) out.insert(out.end(), each.ranges.begin(), each.ranges.end());
    }
    return out;
}

void Gaps::remove(Generation& generation, std::int64_t id) {
    auto& ranges = generation.ranges;
    const auto range = std::ranges::lower_bound(ranges, id, {}, &IdRange::last);
    if (range == ranges.end() || id < range->first) return;
    const IdRange above{id + 1, range->last};
    range->last = id - 1;
    const bool none_below = range->last < range->first;
    if (above.first > above.last) {
        if (none_below) ranges.erase(range);
    } else if (none_below) *range = above;
    else ranges.insert(range + 1, above);
}

void Gaps::found(std::int64_t id) {
    for (Generation& each : generations_) remove(each, id);
    std::erase_if(generations_, [](const Generation& each) { return each.ranges.empty(); });
}

void Gaps::settle(const Running& running) {
    for (Generation& each : generations_)
        if (std::exchange(each.asked, false) && each.before)
            each.waits = running.before(*each.before);
    std::erase_if(generations_, [](const Generation& each) {
        return each.waits && each.waits->empty();
    });
    // What waits for the same is one.
    for (std::size_t i = 1; i < generations_.size();) {
        Generation &older = generations_[i - 1], &younger = generations_[i];
        if (!older.waits || older.waits != younger.waits) {
            ++i;
            continue;
        }
        older.before = std::max(older.before, younger.before);
        const auto older_end = static_cast<std::ptrdiff_t>(older.ranges.size());
        older.ranges.insert(older.ranges.end(), younger.ranges.begin(), younger.ranges.end());
        std::ranges::inplace_merge(older.ranges, older.ranges.begin() + older_end);
        generations_.erase(generations_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void Gaps::meet(const std::vector<std::int64_t>& ids) {
    std::vector<IdRange> missing;
    for (const std::int64_t id : ids) {
        if (id > high_water_ + 1) missing.push_back({high_water_ + 1, id - 1});
        high_water_ = id;
    }
    if (!missing.empty()) generations_.push_back({.before = {}, .ranges = std::move(missing)});
}

void Gaps::name_youngest(Xid before) {
    for (Generation& each : generations_)
        if (!each.before) each.before = before;
}

}  // namespace svc::events

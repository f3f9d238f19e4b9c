#include "modules/queue/lib/hints.hpp"
#include "modules/boards/api/shapes.hpp"

#include <cstring>

namespace svc::queue {

namespace {

/// To the microsecond: several cards may enter within a millisecond.
std::string place_at(const Timestamp& entered) {
    std::string place;
    entered.append_exact_to(place);
    return place;
}

}  // namespace

QueueKey key_of(boards::QueueOrder order, const boards::Card& card, const Timestamp& entered) {
    switch (order) {
        case boards::QueueOrder::fifo: return {0, place_at(entered), card.id};
        case boards::QueueOrder::due:
            if (card.due) return {0, card.due->str(), card.id};
            return {1, card.position.str(), card.id};
        case boards::QueueOrder::priority: break;
    }
    constexpr auto most_urgent = static_cast<std::int64_t>(boards::Priority::urgent);
    return {most_urgent - static_cast<std::int64_t>(card.priority), card.position.str(), card.id};
}

std::size_t Hints::Hash::operator()(const Uuid& id) const {
    std::size_t hash = 0;
    std::memcpy(&hash, id.bytes().data() + 8, sizeof hash);  // the random half
    return hash;
}

QueueKey Hints::from(const Uuid& column, Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    const auto known = hints_.find(column);
    if (known == hints_.end()) {
        if (hints_.size() >= most) hints_.clear();
        hints_.emplace(column, Hint{QueueKey::head(), now});
        return QueueKey::head();
    }
    Hint& hint = known->second;
    if (now - hint.head_seen < trusted_for) return hint.key;
    hint.head_seen = now;
    return QueueKey::head();
}

void Hints::found(const Uuid& column, const QueueKey& at) {
    const std::scoped_lock lock(mutex_);
    const auto known = hints_.find(column);
    if (known != hints_.end()) known->second.key = at;
}

void Hints::reset(const Uuid& column) {
    const std::scoped_lock lock(mutex_);
    hints_.erase(column);
}

}  // namespace svc::queue

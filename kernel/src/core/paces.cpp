#include "core/paces.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace svc::core {

namespace {

/// The newest counts as one of so many.
constexpr int weight = 4;
/// Of what an average says, a third is older.
constexpr double memory_seconds = 2;

}  // namespace

std::size_t Paces::key(std::string_view principal, std::size_t kind) {
    return std::hash<std::string_view>{}(principal) ^ (kind + 1) * 0x9e3779b97f4a7c15;
}

bool Paces::slow(std::size_t key, Duration limit) const {
    const auto found = usual_.find(key);
    return found != usual_.end() && found->second > limit;
}

/// A running mean, to which a single one adds at most the limit: it takes two at least to be slow.
void Paces::note(std::size_t key, Duration took, Duration limit) {
    auto found = usual_.find(key);
    if (found == usual_.end()) {
        if (took <= limit) return;
        if (usual_.size() >= most_) usual_.clear();
        found = usual_.emplace(key, Duration{}).first;
    }
    found->second += (std::min(took, limit * weight) - found->second) / weight;
    if (found->second < limit / weight) usual_.erase(found);
}

void Average::set(double value, PaceClock::time_point now) {
    mean_ = at(now);
    value_ = value;
    since_ = now;
}

double Average::at(PaceClock::time_point now) const {
    const std::chrono::duration<double> passed = now - since_;
    return value_ + (mean_ - value_) * std::exp(-passed.count() / memory_seconds);
}

void Recent::note(std::size_t who, PaceClock::time_point now) {
    if (visits_[0].who != who) visits_[1] = visits_[0];
    visits_[0] = {who, now};
}

bool Recent::anybody_but(std::size_t who, PaceClock::time_point since) const {
    return visits_[visits_[0].who == who ? 1 : 0].at >= since;
}

}  // namespace svc::core

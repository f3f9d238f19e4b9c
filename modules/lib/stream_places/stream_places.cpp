#include "modules/lib/stream_places/stream_places.hpp"

#include "svc/failure.hpp"

#include <string>

namespace svc {

std::optional<StreamPlaces::Place> StreamPlaces::take_if_free(const Uuid& principal) {
    const std::lock_guard lock(mutex_);
    if (const auto found = taken_.find(principal); found != taken_.end() && found->second >= most_)
        return std::nullopt;
    ++taken_[principal];
    return Place(*this, principal);
}

StreamPlaces::Place StreamPlaces::take(const Uuid& principal) {
    if (auto place = take_if_free(principal)) return *std::move(place);
    throw Failure(
        Fault::rate_limited,
        "You have " + std::to_string(most_) +
            " streams open here, as many as one may have; close one first."
    )
        .with_header("Retry-After", "15");
}

void StreamPlaces::give_back(const Uuid& principal) {
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(principal);
    if (--found->second == 0) taken_.erase(found);
}

}  // namespace svc

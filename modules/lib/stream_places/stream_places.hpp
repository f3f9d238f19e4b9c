#pragma once

#include "svc/types.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace svc {

/// How many streams each caller has open on this server, of a kind. Any thread.
class StreamPlaces {
public:
    explicit StreamPlaces(std::size_t most) : most_(most) {}

    /// One of the streams that a principal may have; given back by its end, which StreamPlaces
    /// outlives.
    class Place {
    public:
        Place() = default;
        Place(StreamPlaces& of, const Uuid& whose) : places_(&of), principal_(whose) {}
        Place(Place&& other) noexcept
            : places_(std::exchange(other.places_, nullptr)), principal_(other.principal_) {}
        Place& operator=(Place&& other) noexcept {
            std::swap(places_, other.places_);
            std::swap(principal_, other.principal_);
            return *this;
        }
        ~Place() {
            if (places_) places_->give_back(principal_);
        }
        /// For who has a way of its own to know whose it is, and calls give_back() in the end.
        void release() { places_ = nullptr; }

    private:
        StreamPlaces* places_ = nullptr;
        Uuid principal_;
    };

    /// Failure 429 when the principal has as many as one may have.
    Place take(const Uuid& principal);
    /// Nothing then.
    std::optional<Place> take_if_free(const Uuid& principal);
    void give_back(const Uuid& principal);

private:
    const std::size_t most_;
    std::mutex mutex_;
    std::map<Uuid, std::size_t> taken_;  // under mutex_
};

}  // namespace svc

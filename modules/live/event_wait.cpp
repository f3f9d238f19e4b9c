#include "modules/live/event_wait.hpp"

#include "modules/live/feed.hpp"

namespace svc::live {

EventWait::EventWait(
    Viewer& viewer,
    StreamPlaces::Place place,
    WantedPtr wanted,
    DelayedWakes& wakes,
    std::string topic
)
    : EventReader(viewer), place_(std::move(place)), wakes_(wakes), topic_(std::move(topic)) {
    subscription_.reader = this;
    subscription_.wanted = std::move(wanted);
}

EventWait::~EventWait() {
    const std::lock_guard lock(feed().mutex());
    feed().unsubscribe(subscription_);
}

void EventWait::begin(std::int64_t position) {
    {
        const std::lock_guard lock(feed().mutex());
        use(&bell_);
        rung_.reset();
        not_before_ = DelayedWakes::Clock::now() + pace;
        subscription_.position = position;
        feed().wait_again(subscription_);
    }
    feed().on_waiting();
}

std::int64_t EventWait::looked_to() const {
    const std::lock_guard lock(feed().mutex());
    return rung_.value_or(passed());
}

/// Events that are not for it go by without a word.
std::int64_t EventWait::passed() const {
    const auto position = subscription_.position;
    return subscription_.state == Subscription::State::attached ? std::max(position, feed().done())
                                                                : position;
}

LiveEvent::Frame EventWait::frame_of(const Subscription&, LiveEvent&) const {
    static const auto nothing = as_frame({});
    return nothing;
}

void EventWait::ring() {
    if (rung_) return;
    rung_ = passed();
    wakes_.add(topic_, not_before_);
}

}  // namespace svc::live

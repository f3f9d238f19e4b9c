#pragma once

#include "modules/live/delayed_wakes.hpp"
#include "modules/live/event_reader.hpp"

namespace svc::live {

/// A call of list_events that found nothing and waits: a reader like those of streams, of whom it
/// is known what they may see. What it gets is not sent but has the call run again. Whatever comes
/// one after the other comes together: a call runs again no sooner than `pace` after it looked.
///
/// The call keeps it, as what is done for it alone. Its members are called by one thread at a time.
class EventWait final : public EventReader {
public:
    static constexpr std::chrono::milliseconds pace{100};

    EventWait(
        Viewer& viewer,
        StreamPlaces::Place place,
        WantedPtr wanted,
        DelayedWakes& wakes,
        std::string topic  ///< that nothing else waits for
    );
    ~EventWait() override;

    /// What the call is to wait for (Call::wait_for).
    const std::string& topic() const { return topic_; }
    /// From here on the call is woken by what happens after `position` and is for it. Nothing that
    /// came before counts.
    void begin(std::int64_t position);
    /// Up to here there was nothing for it.
    std::int64_t looked_to() const;

    // ---- under the feed's lock ----
    LiveEvent::Frame frame_of(const Subscription&, LiveEvent&) const override;
    void tell_gap(const Subscription&, std::int64_t) override { ring(); }
    void tell_refused(Subscription&) override { ring(); }

private:
    /// What stands where a stream would.
    struct Bell final : http::Stream {
        explicit Bell(EventWait& its_wait) : wait(its_wait) {}
        bool send(std::shared_ptr<const std::string>) override { return wait.ring(), true; }
        std::size_t backlog() const override { return 0; }
        void use(std::shared_ptr<http::StreamUser>) override {}
        void close() override {}
        void end(http::StreamEnd) override {}
        bool open() const override { return true; }

        EventWait& wait;
    };

    void ring();
    std::int64_t passed() const;

    const StreamPlaces::Place place_;
    DelayedWakes& wakes_;
    const std::string topic_;
    Bell bell_{*this};
    // Under the feed's lock.
    Subscription subscription_;
    DelayedWakes::Clock::time_point not_before_{};
    std::optional<std::int64_t> rung_;  // what had passed by then
};

}  // namespace svc::live

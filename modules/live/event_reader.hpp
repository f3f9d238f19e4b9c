#pragma once

#include "modules/lib/stream_places/stream_places.hpp"
#include "modules/live/filter.hpp"
#include "modules/live/viewer.hpp"
#include "svc/http.hpp"

#include <chrono>

/// Streams of events, and what each asks for.
namespace svc::live {

class Feed;
class EventReader;

/// An event that readers may get; what is sent of it is made once for all of them. Under the feed's
/// lock.
class LiveEvent {
public:
    using Frame = std::shared_ptr<const std::string>;

    LiveEvent(StoredEvent event, Audience audience)
        : event_(std::move(event)), audience_(audience) {}
    const StoredEvent& event() const { return event_; }
    Audience audience() const { return audience_; }
    std::size_t bytes() const { return sizeof *this + event_.envelope.size(); }

    const Frame& sse();
    /// For the subscription that a client calls so.
    Frame web_socket(const std::string& id);
    /// Whoever is late has them made again.
    void drop_frames() {
        sse_.reset();
        web_socket_.clear();
    }

private:
    static constexpr std::size_t most_frames = 8;  // of subscriptions with other names

    const StoredEvent event_;
    const Audience audience_;
    Frame sse_;
    std::vector<std::pair<std::string, Frame>> web_socket_;
};

/// Something that a reader asks for. Belongs to its reader; all of it is under the feed's lock.
struct Subscription {
    enum class State : std::uint8_t {
        waiting,   ///< for a look at what it has missed
        reading,   ///< somebody is looking
        draining,  ///< has as much on its way as may be; goes on when that is sent
        attached,  ///< gets events as they come
        over,
    };
    static constexpr std::int64_t from_now = -1;

    EventReader* reader = nullptr;
    WantedPtr wanted;
    std::int64_t position = from_now;  ///< the last sequence that it is done with
    std::uint64_t place = 0;  ///< in the list of those attached, or its ticket while it waits
    State state = State::over;
    bool announced = false;      ///< that it is attached
    bool missed = false;         ///< events that are no longer kept
    std::uint32_t presence = 0;  ///< the version that was told (Feed::presence_on)
};

/// Whoever gets events, by what looks like a stream. What it asks for is its subscriptions.
class EventReader : public http::StreamUser {
public:
    ~EventReader() override;
    EventReader(const EventReader&) = delete;
    EventReader& operator=(const EventReader&) = delete;

    Viewer& viewer() const { return viewer_; }

    // ---- under the feed's lock ----
    /// Null before it begins and after its end.
    http::Stream* stream() const { return stream_; }
    virtual LiveEvent::Frame frame_of(const Subscription&, LiveEvent&) const = 0;
    /// From here on it misses nothing.
    virtual void tell_attached(const Subscription&) {}
    /// Events before `oldest` are no longer kept.
    virtual void tell_gap(const Subscription&, std::int64_t oldest) = 0;
    /// The board is not to be seen by this caller; the subscription is over after this.
    virtual void tell_refused(Subscription&) = 0;

protected:
    explicit EventReader(Viewer& viewer) : viewer_(viewer) {}
    void use(http::Stream* stream) { stream_ = stream; }
    Feed& feed() const { return *viewer_.feed(); }

private:
    Viewer& viewer_;
    http::Stream* stream_ = nullptr;
};

/// A connection that gets events. Its stream keeps it; the feed knows it while the stream is open.
class StreamReader : public EventReader {
public:
    /// Takes over the place.
    StreamReader(Viewer& viewer, StreamPlaces::Place place);
    ~StreamReader() override;

    /// From here on the stream, which keeps us already, gets what the subscriptions ask for.
    void begin(const std::shared_ptr<http::Stream>& stream);

    void drained() override;
    void ended() override;

    // ---- under the feed's lock ----
    /// What to send now so that nobody between takes the stream for dead, if anything; asked every
    /// few seconds. `done` is the sequence that attached subscriptions are done with, zero when it
    /// is not known.
    virtual LiveEvent::Frame keep_alive(std::chrono::seconds running, std::int64_t done) const = 0;
    /// Says who is on its boards, where that is another than it was told (Feed::presence_on).
    virtual void tell_presence() {}
    /// Says something to this one that is no event (PersonalStreams). `members` of a JSON object,
    /// each behind a comma.
    virtual void tell_personally(std::string_view, const std::string&) {}
    /// Calls `each` with every subscription.
    virtual void for_each_subscription(const std::function<void(Subscription&)>& each) = 0;

    std::uint32_t number = 0;  ///< among the feed's readers

protected:
    bool send(LiveEvent::Frame frame) const { return stream() && stream()->send(std::move(frame)); }
};

inline LiveEvent::Frame as_frame(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

}  // namespace svc::live

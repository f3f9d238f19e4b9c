#include "modules/live/event_reader.hpp"

#include "modules/live/feed.hpp"
#include "modules/live/lib/websocket.hpp"

namespace svc::live {

const LiveEvent::Frame& LiveEvent::sse() {
    if (!sse_)
        sse_ = as_frame(
            "id: " + std::to_string(event_.sequence) + "\nevent: " + event_.kind +
            "\ndata: " + event_.envelope + "\n\n"
        );
    return sse_;
}

LiveEvent::Frame LiveEvent::web_socket(const std::string& id) {
    for (const auto& [name, frame] : web_socket_)
        if (name == id) return frame;
    std::string text = R"({"type":"event","id":)";
    write_text(id, text);
    text += R"(,"event":)";
    text += event_.envelope;
    text += '}';
    auto frame = as_frame(frame_of(Opcode::text, text));
    if (web_socket_.size() < most_frames) web_socket_.emplace_back(id, frame);
    return frame;
}

EventReader::EventReader(std::shared_ptr<Feed> feed, Viewer& viewer, StreamPlaces::Place place)
    : feed_(std::move(feed)), viewer_(viewer) {
    place.release();
}

EventReader::~EventReader() {
    feed_->places().give_back(viewer_.caller().principal);
    const std::lock_guard lock(feed_->mutex());
    feed_->leave(viewer_);
}

void EventReader::begin(const std::shared_ptr<http::Stream>& stream) {
    {
        const std::lock_guard lock(feed_->mutex());
        stream_ = stream.get();
        feed_->add(*this);
        for_each_subscription([&](Subscription& each) { feed_->subscribe(each); });
    }
    feed_->on_waiting();
}

void EventReader::drained() {
    {
        const std::lock_guard lock(feed_->mutex());
        for_each_subscription([&](Subscription& each) { feed_->go_on(each); });
    }
    feed_->on_waiting();
}

void EventReader::ended() {
    const std::lock_guard lock(feed_->mutex());
    if (!stream_) return;
    stream_ = nullptr;
    for_each_subscription([&](Subscription& each) { feed_->unsubscribe(each); });
    feed_->remove(*this);
}

}  // namespace svc::live

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

EventReader::~EventReader() {
    const auto held = viewer_.feed();  // the last viewer's end is the feed's
    const std::lock_guard lock(held->mutex());
    held->leave(viewer_);
}

StreamReader::StreamReader(Viewer& viewer, StreamPlaces::Place place) : EventReader(viewer) {
    place.release();
}

StreamReader::~StreamReader() { feed().places().give_back(viewer().caller().principal); }

void StreamReader::begin(const std::shared_ptr<http::Stream>& stream) {
    {
        const std::lock_guard lock(feed().mutex());
        if (!stream->open()) return;  // we were told of its end, or are going to be
        feed().add(*this);
        use(stream.get());
        for_each_subscription([&](Subscription& each) { feed().subscribe(each); });
    }
    feed().on_waiting();
}

void StreamReader::drained() {
    {
        const std::lock_guard lock(feed().mutex());
        for_each_subscription([&](Subscription& each) { feed().go_on(each); });
    }
    feed().on_waiting();
}

void StreamReader::ended() {
    const std::lock_guard lock(feed().mutex());
    if (!stream()) return;
    use(nullptr);
    for_each_subscription([&](Subscription& each) { feed().unsubscribe(each); });
    feed().remove(*this);
}

}  // namespace svc::live

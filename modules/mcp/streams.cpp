#include "modules/mcp/streams.hpp"

namespace svc::mcp {

namespace {

std::shared_ptr<const std::string> frame(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

std::string sse_event(std::string_view json) {
    std::string out = "event: message\ndata: ";
    out += json;
    return out + "\n\n";
}

http::Answer Streams::open(RouteCall& call, std::string first, std::string session) {
    auto place = std::make_shared<StreamPlaces::Place>(places_.take(call.caller()->id));
    call.become_stream([=, this](std::shared_ptr<http::Stream> stream) {
        start({std::move(stream), place, session}, first);
    });
    http::Answer answer;
    answer.content_type = "text/event-stream";
    answer.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
    return answer;
}

/// A client that has nothing to say here.
class Streams::Listener final : public http::StreamUser {
public:
    Listener(Streams& of, const http::Stream* stream) : streams_(of), stream_(stream) {}
    void ended() override { streams_.forget(stream_); }

private:
    Streams& streams_;
    const http::Stream* stream_;
};

/// The stream is called without the lock: it may call back at once.
void Streams::start(Open open, const std::string& first) {
    const auto stream = open.stream;
    {
        const std::lock_guard lock(mutex_);
        open_.push_back(std::move(open));
    }
    stream->use(std::make_shared<Listener>(*this, stream.get()));
    if (!stream->send(frame(first))) forget(stream.get());
}

void Streams::forget(const http::Stream* stream) {
    std::list<Open> gone;  // dies after the lock: a place takes it
    const std::lock_guard lock(mutex_);
    for (auto each = open_.begin(); each != open_.end(); ++each)
        if (each->stream.get() == stream) return gone.splice(gone.begin(), open_, each);
}

void Streams::keep_alive() {
    std::vector<std::shared_ptr<http::Stream>> streams;
    {
        const std::lock_guard lock(mutex_);
        for (const Open& each : open_) streams.push_back(each.stream);
    }
    static const auto comment = frame(": still here\n\n");
    for (const auto& each : streams)
        if (!each->send(comment)) forget(each.get());
}

void Streams::close_session(std::string_view session) {
    std::list<Open> closing;
    {
        const std::lock_guard lock(mutex_);
        for (auto each = open_.begin(); each != open_.end();) {
            const auto next = std::next(each);
            if (each->session == session) closing.splice(closing.end(), open_, each);
            each = next;
        }
    }
    for (const Open& each : closing) each.stream->close();
}

}  // namespace svc::mcp

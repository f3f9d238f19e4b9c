// `GET /v1/sse`: events as Server-Sent Events, for what reads HTTP and no more.

#include "modules/live/streams.hpp"
#include "modules/live/tickets.hpp"

#include <charconv>
#include <set>
#include <string_view>

namespace svc::live {

namespace {

constexpr std::chrono::seconds heartbeat{15};
constexpr std::string_view opening = ": open\nretry: 3000\n\n";

LiveEvent::Frame told(std::string_view type, const std::string& id, const std::string& members) {
    return as_frame(
        (id.empty() ? "" : "id: " + id + "\n") + "event: " + std::string(type) +
        "\ndata: {\"type\":\"" + std::string(type) + "\"" + members + "}\n\n"
    );
}

class SseReader final : public StreamReader {
public:
    SseReader(Viewer& viewer, StreamPlaces::Place place, Filter filter, std::int64_t after)
        : StreamReader(viewer, std::move(place)) {
        const std::lock_guard lock(feed().mutex());
        subscription_.reader = this;
        subscription_.wanted = feed().shared({std::move(filter)});
        subscription_.position = after;
    }

    LiveEvent::Frame frame_of(const Subscription&, LiveEvent& event) const override {
        return event.sse();
    }
    /// A client that loses its stream before the first event goes on from here.
    void tell_attached(const Subscription& subscription) override {
        send(as_frame("id: " + std::to_string(subscription.position) + "\n\n"));
    }
    void tell_gap(const Subscription&, std::int64_t oldest) override {
        const auto number = std::to_string(oldest);
        send(told("gap", std::to_string(oldest - 1), ",\"oldest\":" + number));
    }
    /// Whoever connects again is answered 404.
    void tell_refused(Subscription&) override {
        if (stream()) stream()->close();
    }
    LiveEvent::Frame keep_alive(std::chrono::seconds running, std::int64_t last) const override {
        if (running % heartbeat != std::chrono::seconds(0)) return nullptr;
        static const auto comment = as_frame(": still here\n\n");
        if (subscription_.state != Subscription::State::attached || last == 0) return comment;
        // What was passed over need not be looked at again after a reconnect.
        const auto done = std::max(last, subscription_.position);
        return as_frame(": still here\nid: " + std::to_string(done) + "\n\n");
    }
    /// Without an id: it is no place to go on from.
    void tell_personally(std::string_view type, const std::string& members) override {
        send(told(type, "", members));
    }
    void for_each_subscription(const std::function<void(Subscription&)>& each) override {
        each(subscription_);
    }

private:
    Subscription subscription_;
};

Failure wrong_in(std::string_view place, std::string_view name, std::string_view message) {
    return Failure::invalid_at(
        "[\"" + std::string(place) + "\",\"" + std::string(name) + "\"]", "value_error", message
    );
}

std::int64_t sequence_of(std::string_view place, std::string_view name, std::string_view text) {
    std::int64_t sequence = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), sequence);
    if (problem != std::errc{} || end != text.data() + text.size() || sequence < 0)
        throw wrong_in(place, name, "Should be the sequence of an event, or 0");
    return sequence;
}

struct Asked {
    Filter filter;
    std::int64_t after = Subscription::from_now;
};

void add_kinds(std::string_view list, Filter& filter) {
    for (;;) {
        const auto comma = list.find(',');
        const auto kind = list.substr(0, comma);
        if (!is_kind_filter(kind))
            throw wrong_in("query", "kinds", "Should be kinds, `noun.*` or `*`, between commas");
        if (filter.kinds.size() == most_kinds)
            throw wrong_in("query", "kinds", "Should have at most 50 kinds");
        filter.kinds.emplace_back(kind);
        if (comma == list.npos) return;
        list.remove_prefix(comma + 1);
    }
}

Asked asked_in(const http::Request& request) {
    const auto query = http::parse_query(request.query);
    if (!query) throw wrong_in("query", "", "Should be percent-encoded UTF-8");
    Asked asked;
    std::set<std::string_view> given;
    for (const auto& [name, value] : *query) {
        if (!given.insert(name).second && name != "kinds")
            throw wrong_in("query", name, "Should be given once");
        if (name == "board_id") {
            asked.filter.board = Uuid::parse(value);
            if (!asked.filter.board) throw wrong_in("query", "board_id", "Should be a UUID");
        } else if (name == "kinds") add_kinds(value, asked.filter);
        else if (name == "after") asked.after = sequence_of("query", "after", value);
        else if (name != "ticket" && name != "org_id")
            throw wrong_in("query", name, "There is no such parameter");
    }
    // A browser that connects again says it so, and asks for the same address as before.
    if (const auto last = request.header("last-event-id"); !last.empty())
        asked.after = sequence_of("header", "last-event-id", last);
    return asked;
}

}  // namespace

http::Answer Streams::open_sse(RouteCall& call) {
    refuse_head(call);
    refuse_other_sites(call, Told::perhaps);
    const auto caller = caller_of(call);
    Asked asked = asked_in(call.request());
    if (asked.filter.board) require_board(caller, *asked.filter.board);
    auto place = hub_.places().take(caller.principal);
    redeem_ticket(call);
    const auto feed = hub_.feed_of(caller.org);
    Viewer& viewer = enter(*feed, call);
    auto reader =
        std::make_shared<SseReader>(viewer, std::move(place), std::move(asked.filter), asked.after);
    call.become_stream([reader](const std::shared_ptr<http::Stream>& stream) {
        static const auto first = as_frame(std::string(opening));
        stream->send(first);
        stream->use(reader);
        reader->begin(stream);
    });
    http::Answer answer{
        .headers = for_other_sites(call.request()), .content_type = "text/event-stream"
    };
    answer.headers.emplace_back("Cache-Control", "no-store");
    answer.headers.emplace_back("X-Accel-Buffering", "no");
    return answer;
}

}  // namespace svc::live

// `GET /v1/ws`: events over a WebSocket, with subscriptions that come and go.

#include "modules/live/lib/websocket.hpp"
#include "modules/live/streams.hpp"
#include "svc/json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <forward_list>

namespace svc::live {

namespace {

constexpr std::ptrdiff_t most_subscriptions = 100;
constexpr std::size_t longest_id = 100;
constexpr std::chrono::seconds heartbeat{20};
// Messages that a client may send at once, and a second.
constexpr std::uint32_t most_at_once = 200, most_per_second = 20;

struct ClientMessage {
    std::string type;
    std::optional<std::string> id;
    std::optional<Uuid> board_id;
    std::optional<std::vector<std::string>> kinds;
    std::optional<std::int64_t> after;
};
SVC_RECORD(
    ClientMessage,
    (type, "subscribe, unsubscribe or ping."),
    (id, "How the client calls the subscription.", length(1, longest_id)),
    (board_id, "Only what happens on this board."),
    (kinds, "Kinds, `noun.*` or `*`; left out: all.", length(1, most_kinds)),
    (after,
     "The sequence of the last event that is known.",
     range(0, std::numeric_limits<std::int64_t>::max()))
);

LiveEvent::Frame text_frame(std::string_view json) {
    return as_frame(frame_of(Opcode::text, json));
}

/// `{"type":…,"id":…` and more members.
std::string message(std::string_view type, const std::string* id, std::string_view members) {
    std::string out = "{\"type\":\"" + std::string(type) + '"';
    if (id) {
        out += ",\"id\":";
        write_text(*id, out);
    }
    return (out += members) += '}';
}

/// How fast a client may speak. Small, for every stream has one.
class Pace {
public:
    /// Whether one more message may come now.
    bool admit() {
        const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
        const auto second =
            static_cast<std::uint32_t>(now / std::chrono::seconds(1)) & most_seconds;
        const std::uint64_t earned =
            std::uint64_t{(second - since_) & most_seconds} * most_per_second;
        since_ = second;
        left_ = static_cast<std::uint8_t>(std::min<std::uint64_t>(most_at_once, left_ + earned));
        return left_ > 0 && left_-- > 0;
    }

private:
    static constexpr std::uint32_t most_seconds = 0xFF'FFFF;  // half a year, then from zero again
    static_assert(most_at_once <= 0xFF);
    std::uint32_t since_ : 24 = 0, left_ : 8 = most_at_once;
};

/// Those of a connection. Most have one, which has its place here.
class Subscriptions {
public:
    Subscription& add(EventReader& reader) {
        Subscription& made = first_.reader ? more_.emplace_front() : first_;
        made.reader = &reader;
        return made;
    }
    void remove(Subscription& one) {
        if (&one == &first_) first_ = {};
        else more_.remove_if([&](const auto& each) { return &each == &one; });
    }
    /// It may remove the one that it is called with.
    template <class Each>
    void for_each(const Each& each) {
        if (first_.reader) each(first_);
        for (auto next = more_.begin(); next != more_.end();) each(*next++);
    }
    std::ptrdiff_t count() const { return (first_.reader ? 1 : 0) + std::ranges::distance(more_); }

private:
    Subscription first_;
    std::forward_list<Subscription> more_;
};

class WsReader final : public StreamReader {
public:
    WsReader(Viewer& viewer, StreamPlaces::Place place) : StreamReader(viewer, std::move(place)) {}

    void receive(std::string_view bytes) override {
        while (const auto message = parser_.next(bytes)) take(*message);
        if (parser_.error()) close(parser_.error()->code, parser_.error()->reason);
    }
    std::shared_ptr<const std::string> last_frame(http::StreamEnd why) const override {
        static const auto revoked = as_frame(close_frame(
            CloseCode::unauthorized, "The credential is no longer good, or stands for less."
        ));
        static const auto slow = as_frame(close_frame(
            CloseCode::try_again_later, "Events came faster than they were read; resume."
        ));
        static const auto stopping =
            as_frame(close_frame(CloseCode::going_away, "The server is stopping; connect again."));
        switch (why) {
            case http::StreamEnd::revoked: return revoked;
            case http::StreamEnd::too_slow: return slow;
            case http::StreamEnd::stopping: return stopping;
        }
        return nullptr;
    }

    LiveEvent::Frame frame_of(const Subscription& to, LiveEvent& event) const override {
        return event.web_socket(id_of(to));
    }
    void tell_attached(const Subscription& to) override {
        const std::string members = ",\"sequence\":" + std::to_string(to.position) +
                                    ",\"recovered\":" + (to.missed ? "false" : "true");
        say("subscribed", &id_of(to), members);
    }
    void tell_gap(const Subscription& to, std::int64_t oldest) override {
        say("gap", &id_of(to), ",\"oldest\":" + std::to_string(oldest));
    }
    void tell_refused(Subscription& to) override {
        refuse(&id_of(to), Failure(Fault::not_found, "There is no such board."));
        subscriptions_.remove(to);
    }
    LiveEvent::Frame keep_alive(std::chrono::seconds running, std::int64_t) const override {
        static const auto ping = as_frame(svc::live::frame_of(Opcode::ping, ""));
        return running % heartbeat == std::chrono::seconds(0) ? ping : nullptr;
    }
    void tell_presence() override {
        subscriptions_.for_each([this](Subscription& each) {
            const auto& board = each.wanted->filter.board;
            if (each.state != Subscription::State::attached || !board) return;
            const auto& [members, version] = feed().presence_on(*board);
            if (std::exchange(each.presence, version) == version) return;
            say("presence", &each.wanted->id, ",\"board_id\":\"" + board->str() + '"' + members);
        });
    }
    void tell_personally(std::string_view type, const std::string& members) override {
        say(type, nullptr, members);
    }
    void for_each_subscription(const std::function<void(Subscription&)>& each) override {
        subscriptions_.for_each(each);
    }

    void greet() const {
        const std::lock_guard lock(feed().mutex());
        say("ready",
            nullptr,
            ",\"org_id\":\"" + feed().org().str() +
                "\",\"heartbeat_seconds\":" + std::to_string(heartbeat.count()));
    }

private:
    static const std::string& id_of(const Subscription& subscription) {
        return subscription.wanted->id;
    }

    void say(std::string_view type, const std::string* id, std::string_view members) const {
        send(text_frame(message(type, id, members)));
    }
    void refuse(const std::string* id, const Failure& failure) const {
        say("error", id, ",\"error\":" + failure.body(new_uuid().str()));
    }

    // ---- on a worker, one call at a time ----
    void take(const WebSocketMessage& message) {
        if (!pace_.admit()) return close(CloseCode::policy, "Too many messages; slow down.");
        switch (message.opcode) {
            case Opcode::ping:
                return answer(as_frame(svc::live::frame_of(Opcode::pong, message.payload)));
            case Opcode::close: return answer_close(message.payload);
            case Opcode::text: return obey(message.payload);
            default: return;  // a pong
        }
    }
    void answer(LiveEvent::Frame frame) const {
        const std::lock_guard lock(feed().mutex());
        send(std::move(frame));
    }
    void close(CloseCode code, std::string_view reason) const {
        const std::lock_guard lock(feed().mutex());
        send(as_frame(close_frame(code, reason)));
        if (stream()) stream()->close();
    }
    void answer_close(std::string_view payload) const {
        const std::lock_guard lock(feed().mutex());
        send(as_frame(svc::live::frame_of(Opcode::close, payload.substr(0, 2))));
        if (stream()) stream()->close();
    }

    void obey(std::string_view text) {
        std::optional<std::string> id;
        try {
            obey(read(text, id));
        } catch (const Failure& failure) {
            const std::lock_guard lock(feed().mutex());
            refuse(id ? &*id : nullptr, failure);
        }
    }
    static ClientMessage read(std::string_view text, std::optional<std::string>& id) {
        const json::value value = parse_json(text, "message");
        if (const auto* object = value.if_object())
            if (const auto* said = object->if_contains("id"))
                if (said->is_string() && said->as_string().size() <= longest_id)
                    id = std::string(said->as_string());
        ClientMessage message;
        Reader reader;
        auto root = reader.at("message");
        reader.read(record_of<ClientMessage>(), value, &message);
        if (!reader.clean()) throw Failure::invalid_input(reader.issues());
        return message;
    }

    void obey(const ClientMessage& message) {
        if (message.type == "ping") return answer(text_frame(R"({"type":"pong"})"));
        if (message.type == "subscribe") return subscribe(message);
        if (message.type == "unsubscribe") return unsubscribe(message);
        throw wrong("type", "Should be subscribe, unsubscribe or ping");
    }
    static Failure wrong(std::string_view member, std::string_view why) {
        return Failure::invalid_at(
            "[\"message\",\"" + std::string(member) + "\"]", "value_error", why
        );
    }

    void subscribe(const ClientMessage& message) {
        if (!message.id) throw wrong("id", "A subscription needs a name");
        Filter filter{message.board_id, message.kinds.value_or(std::vector<std::string>{})};
        if (!std::ranges::all_of(filter.kinds, is_kind_filter))
            throw wrong("kinds", "Should be kinds, `noun.*` or `*`");
        {
            const std::lock_guard lock(feed().mutex());
            if (!stream()) return;
            if (find(*message.id)) throw wrong("id", "There is a subscription of that name");
            if (subscriptions_.count() >= most_subscriptions)
                throw Failure(Fault::rate_limited, "A connection has at most 100 subscriptions.");
            Subscription& made = subscriptions_.add(*this);
            made.wanted = feed().shared({std::move(filter), *message.id});
            made.position = message.after.value_or(Subscription::from_now);
            feed().subscribe(made);
        }
        feed().on_waiting();
    }
    void unsubscribe(const ClientMessage& message) {
        if (!message.id) throw wrong("id", "Which subscription?");
        const std::lock_guard lock(feed().mutex());
        Subscription* found = find(*message.id);
        if (!found) throw wrong("id", "There is no subscription of that name");
        feed().unsubscribe(*found);
        subscriptions_.remove(*found);
        say("unsubscribed", &*message.id, "");
    }
    Subscription* find(const std::string& id) {
        Subscription* found = nullptr;
        subscriptions_.for_each([&](Subscription& each) {
            if (each.wanted->id == id) found = &each;
        });
        return found;
    }

    Pace pace_;  // first: behind the base's last member there is room for it
    WebSocketParser parser_;
    Subscriptions subscriptions_;  // under the feed's lock
};

bool names(std::string_view list, std::string_view token) {
    while (!list.empty()) {
        auto each = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), each.size() + 1));
        while (each.starts_with(' ') || each.starts_with('\t')) each.remove_prefix(1);
        while (each.ends_with(' ') || each.ends_with('\t')) each.remove_suffix(1);
        if (std::ranges::equal(each, token, [](char a, char b) {
                return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
            }))
            return true;
    }
    return false;
}

bool is_upgrade(const http::Request& request) {
    return names(request.header("upgrade"), "websocket") &&
           names(request.header("connection"), "upgrade") &&
           request.header("sec-websocket-version") == "13";
}

http::Answer upgrade_required(const RouteCall& call) {
    http::Answer answer{.status = 426};
    answer.headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Version", "13"}};
    answer.body = R"({"object":"error","status":426,"code":"invalid_request","message":)";
    write_text("This address speaks WebSocket, version 13.", answer.body);
    answer.body += R"(,"request_id":)";
    write_text(call.request_id(), answer.body);
    answer.body += '}';
    return answer;
}

}  // namespace

http::Answer Streams::open_web_socket(RouteCall& call) {
    const http::Request& request = call.request();
    refuse_head(call);
    if (!is_upgrade(request)) return upgrade_required(call);
    const auto key = request.header("sec-websocket-key");
    if (!is_websocket_key(key))
        throw Failure::invalid_at(
            R"(["header","sec-websocket-key"])", "value_error", "Should be 16 bytes in base64"
        );
    refuse_other_sites(call, Told::always);
    const auto caller = caller_of(call);
    auto place = hub_.places().take(caller.principal);
    redeem_ticket(call);
    const auto feed = hub_.feed_of(caller.org);
    Viewer& viewer = enter(*feed, call);
    auto reader = std::make_shared<WsReader>(viewer, std::move(place));
    call.become_stream([reader](const std::shared_ptr<http::Stream>& stream) {
        stream->use(reader);
        reader->begin(stream);
        reader->greet();
    });
    http::Answer answer{.status = 101};
    answer.headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", accept_key(key)}};
    answer.content_type = {};
    return answer;
}

}  // namespace svc::live

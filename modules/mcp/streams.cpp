#include "modules/mcp/streams.hpp"

#include "svc/bus.hpp"
#include "svc/org_events.hpp"

#include <Poco/Logger.h>

namespace svc::mcp {

namespace {

constexpr Sql role_on{"mcp.role_on_board", R"(
    SELECT )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM boards b
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND b.id = $5)"};

struct RoleOn {
    std::optional<boards::BoardRole> role;
};
SVC_RECORD(RoleOn, (role));

constexpr std::int64_t most_caught_up = 1'000;

/// What tells of a change; `params` are members.
std::string notification(const Watch& watch, std::string_view method, std::string_view params) {
    std::string inner;
    if (!watch.tag.empty())
        inner = R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + watch.tag + '}';
    if (!params.empty()) (inner += inner.empty() ? "" : ",") += params;
    std::string message = R"({"jsonrpc":"2.0","method":")" + std::string(method) + '"';
    if (!inner.empty()) message += ",\"params\":{" + inner + '}';
    return message + '}';
}

std::shared_ptr<const std::string> frame(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

bool changes_tools(std::string_view kind) {
    return kind == "member.role_changed" || kind == "agent.updated";
}

/// What is listed are boards.
bool changes_resources(std::string_view kind) {
    return kind.starts_with("board.") || kind.starts_with("grant.");
}

}  // namespace

std::string sse_event(std::string_view json, std::string_view id) {
    std::string out;
    if (!id.empty()) ((out += "id: ") += id) += '\n';
    out += "event: message\ndata: ";
    out += json;
    return out + "\n\n";
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

Streams::Streams(Kernel& kernel, std::size_t most_per_principal)
    : kernel_(kernel), mailbox_(kernel), places_(most_per_principal) {}

void Streams::start() {
    thread_ = std::thread([this] { run(); });
}

void Streams::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    due_.notify_all();
    if (thread_.joinable()) thread_.join();
}

http::Answer Streams::open(RouteCall& call, Opening opening) {
    const Caller& caller = *call.caller();
    if (!caller.org_id) not_found("workspace");
    auto open = std::make_shared<Open>();
    open->place = std::make_shared<StreamPlaces::Place>(places_.take(caller.id));
    open->scope = Scope::of(caller);
    open->caller = boards::BoardCaller::of(caller, *caller.org_id);
    open->opening = std::move(opening);
    call.become_stream([this, open](std::shared_ptr<http::Stream> stream) {
        open->stream = std::move(stream);
        begin(open);
    });
    http::Answer answer;
    answer.content_type = "text/event-stream";
    answer.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
    return answer;
}

/// The stream is called without the lock: it may call back at once. What happens from here on is
/// noted and told behind the first event, and what was there before is looked up.
void Streams::begin(const Shared& open) {
    const auto stream = open->stream;
    {
        const std::lock_guard lock(mutex_);
        open->pending.mail = open->opening.session.has_value();
        open_.push_back(open);
    }
    stream->send(frame(open->opening.first));
    {
        const std::lock_guard lock(mutex_);
        open->begun = true;
    }
    stream->use(std::make_shared<Listener>(*this, stream.get()));
    due_.notify_one();
}

void Streams::forget(const http::Stream* stream) {
    std::list<Shared> gone;  // dies after the lock: a place takes it
    const std::lock_guard lock(mutex_);
    for (auto each = open_.begin(); each != open_.end(); ++each)
        if ((*each)->stream.get() == stream) return gone.splice(gone.begin(), open_, each);
}

void Streams::keep_alive() {
    std::vector<std::shared_ptr<http::Stream>> streams;
    {
        const std::lock_guard lock(mutex_);
        for (const Shared& each : open_) {
            streams.push_back(each->stream);
            // What another server said may have been lost on its way.
            if (!each->opening.token.empty()) each->pending.mail = true;
        }
    }
    due_.notify_one();
    static const auto comment = frame(": still here\n\n");
    for (const auto& each : streams)
        if (!each->send(comment)) forget(each.get());
}

void Streams::close_session(const Uuid& session) {
    std::list<Shared> closing;
    {
        const std::lock_guard lock(mutex_);
        for (auto each = open_.begin(); each != open_.end();) {
            const auto next = std::next(each);
            const auto& of = (*each)->opening.session;
            if (of && of->id == session) closing.splice(closing.end(), open_, each);
            each = next;
        }
    }
    for (const Shared& each : closing) each->stream->close();
}

void Streams::poke(const Uuid& session) {
    look_for(session.str());
    kernel_.use<Bus>().publish(channel, session.str());
}

void Streams::look_for(std::string_view session) {
    const auto id = Uuid::parse(session);
    {
        const std::lock_guard lock(mutex_);
        for (const Shared& each : open_)
            if (each->opening.session && id == each->opening.session->id) each->pending.mail = true;
    }
    due_.notify_one();
}

void Streams::hear(std::span<const StoredEvent> batch) {
    {
        const std::lock_guard lock(mutex_);
        if (open_.empty()) return;
        for (const StoredEvent& event : batch)
            for (const Shared& each : open_)
                if (each->scope.org == event.org_id) note(*each, event);
    }
    due_.notify_one();
}

void Streams::note(Open& open, const StoredEvent& event) {
    const Watch& watch = open.opening.watch;
    open.pending.heard = std::max(open.pending.heard, event.sequence);
    if (watch.tools && changes_tools(event.kind)) open.pending.tools = true;
    if (watch.resources && changes_resources(event.kind)) open.pending.resources = true;
    for (const Subscription& each : watch.subscriptions)
        if (each.object_id == event.board_id || each.object_id == event.card_id)
            open.pending.updated.emplace(each.uri, each.board_id);
    if (!open.pending.mail && !open.looking) return;
    if (event.board_id) open.touched.insert(*event.board_id);
    if (event.card_id) open.touched.insert(*event.card_id);
}

/// Whoever has been told that it is subscribed hears of all that happens from then on, though its
/// stream learns of the subscription a moment later.
void Streams::take_up(Open& open, std::vector<Subscription> subscriptions) {
    const std::lock_guard lock(mutex_);
    auto& known = open.opening.watch.subscriptions;
    for (const Subscription& each : subscriptions)
        if (open.touched.contains(each.object_id) &&
            std::ranges::find(known, each.uri, &Subscription::uri) == known.end())
            open.pending.updated.emplace(each.uri, each.board_id);
    known = std::move(subscriptions);
    open.looking = false;
    if (!open.pending.mail) open.touched.clear();  // else there may be another already
}

void Streams::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        std::vector<std::pair<Shared, Pending>> due;
        for (const Shared& each : open_)
            if (each->begun && each->pending.any()) {
                each->looking = each->pending.mail;
                due.emplace_back(each, std::exchange(each->pending, {}));
            }
        if (due.empty()) {
            due_.wait(lock);
            continue;
        }
        lock.unlock();
        for (auto& [open, what] : due) try {
                tell(*open, std::move(what));
            } catch (const std::exception& problem) {
                // Whoever misses something reads again; the stream's end tells its client to.
                Poco::Logger::get("mcp").warning(std::string("a stream: ") + problem.what());
                open->stream->close();
            }
        due.clear();
        lock.lock();
    }
}

void Streams::tell(Open& open, Pending what) {
    if (what.mail) send_mail(open);
    const Watch& watch = open.opening.watch;
    std::vector<std::string> messages;
    if (what.tools) messages.push_back(notification(watch, "notifications/tools/list_changed", {}));
    if (what.resources)
        messages.push_back(notification(watch, "notifications/resources/list_changed", {}));
    std::map<Uuid, bool> seen;
    for (const auto& [uri, board] : what.updated) {
        const auto found = seen.find(board);
        const bool visible = found != seen.end() ? found->second : seen[board] = sees(open, board);
        if (!visible) continue;
        std::string params = "\"uri\":";
        write_text(uri, params);
        messages.push_back(notification(watch, "notifications/resources/updated", params));
    }
    send(open, messages, what.heard);
}

/// The answers that wait for the session, and what it has subscribed to.
void Streams::send_mail(Open& open) {
    const Opening& opening = open.opening;
    take_up(open, mailbox_.subscriptions(open.scope, opening.session->id));
    if (opening.resumed || opening.numbered) catch_up(open);
    if (opening.token.empty()) return;
    std::vector<Letter> letters;
    do {
        letters = mailbox_.after(open.scope, opening.session->id, opening.after);
        for (const Letter& each : letters) {
            const auto id = opening.token + '.' + std::to_string(each.sequence);
            if (!open.stream->send(frame(sse_event(each.message, id)))) return;
            open.opening.after = each.sequence;
        }
    } while (letters.size() == Mailbox::most_at_once);
}

/// Notes what happened while its client was away, or that everything may have, when nobody knows
/// any more; and tells it where it is.
void Streams::catch_up(Open& open) {
    Opening& opening = open.opening;
    const bool resumed = std::exchange(opening.resumed, false);
    const EventRange range{
        .after = opening.since.value_or(0), .count = opening.since ? most_caught_up : 1
    };
    EventPage missed;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(open.scope.org, open.scope.user);
        missed = read_events(tx, open.scope.org, range)();
    });
    std::unique_lock lock(mutex_);
    if (resumed && opening.since && missed.is_last() && !missed.is_gap(*opening.since)) {
        for (const StoredEvent& each : missed.events) note(open, each);
    } else if (resumed) {
        open.pending.tools = open.pending.resources = true;
        for (const Subscription& each : opening.watch.subscriptions)
            open.pending.updated.emplace(each.uri, each.board_id);
        open.pending.heard = std::max(open.pending.heard, missed.last);
    }
    const bool numbers = std::exchange(opening.numbered, false) && !open.pending.any();
    lock.unlock();
    if (numbers) open.stream->send(frame("id: " + std::to_string(missed.last) + "\ndata: \n\n"));
}

void Streams::send(Open& open, const std::vector<std::string>& messages, std::int64_t heard) {
    const Opening& opening = open.opening;
    for (const std::string& each : messages) {
        std::string id;
        if (!opening.token.empty()) id = opening.token + '.' + std::to_string(opening.after);
        else if (heard > 0 && &each == &messages.back()) id = std::to_string(heard);
        open.stream->send(frame(sse_event(each, id)));
    }
}

bool Streams::sees(const Open& open, const Uuid& board) {
    bool seen = false;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(open.scope.org, open.scope.user);
        const auto found = open.caller.later<RoleOn>(tx, role_on, board).one();
        seen = found && found->role;
    });
    return seen;
}

}  // namespace svc::mcp

#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/lib/stream_places/stream_places.hpp"
#include "modules/mcp/mailbox.hpp"

#include <condition_variable>
#include <list>
#include <mutex>
#include <set>
#include <thread>

namespace svc::mcp {

/// What a stream tells its client of.
struct Watch {
    bool tools = false;      ///< that the list of tools may be another
    bool resources = false;  ///< that the list of resources may be another
    std::vector<Subscription> subscriptions;
    std::string tag{};  ///< JSON of the id of the request that asked for it; empty: none
};

/// How a stream begins, and what comes on it.
struct Opening {
    std::string first;  ///< SSE text
    Watch watch;
    std::optional<Session> session{};  ///< ends with it
    std::string token{};               ///< of a session whose answers come here as well
    std::int64_t after = 0;            ///< the last of those answers that its client has
    bool resumed = false;              ///< its client was away, and may have missed something
    /// The last event of the workspace that it knows of; nothing when it does not say.
    std::optional<std::int64_t> since{};
    bool numbered = false;  ///< its client says that when it comes back, so is told at once
};

/// The SSE streams that are open here: a comment every so often keeps proxies and clients from
/// giving up on a quiet one. A thread of its own sends what there is to tell. Any thread may call
/// any member.
class Streams {
public:
    static constexpr std::string_view channel = "mcp.streams";

    Streams(Kernel& kernel, std::size_t most_per_principal);
    ~Streams() { stop(); }

    void start();
    void stop() noexcept;

    /// Makes the request's connection a stream. Failure 429 when the caller has as many open as one
    /// may have.
    http::Answer open(RouteCall& call, Opening opening);
    void close_session(const Uuid& session);
    /// There is something in the session's mailbox, or it subscribed to something: whichever server
    /// has its stream looks.
    void poke(const Uuid& session);
    /// The same, said by another server.
    void look_for(std::string_view session);

    void keep_alive();
    /// On the sequencer's thread.
    void hear(std::span<const StoredEvent> batch);

    Mailbox& mailbox() { return mailbox_; }

private:
    /// What there is to tell.
    struct Pending {
        bool mail = false, tools = false, resources = false;
        std::map<std::string, Uuid> updated;  // by URI, with the board that has to be seen
        std::int64_t heard = 0;               // the workspace's last event that is in it
        bool any() const { return mail || tools || resources || !updated.empty(); }
    };
    struct Open {
        std::shared_ptr<http::Stream> stream;
        std::shared_ptr<StreamPlaces::Place> place;  // shared: std::function copies what it holds
        Scope scope;
        boards::BoardCaller caller;
        Opening opening;
        Pending pending{};
        bool begun = false;    ///< its first event is sent
        bool looking = false;  ///< its subscriptions are being looked up
        /// Boards and cards of events that came before its subscriptions were known.
        std::set<Uuid> touched{};
    };
    using Shared = std::shared_ptr<Open>;
    class Listener;

    void begin(const Shared& open);
    void forget(const http::Stream* stream);
    void note(Open& open, const StoredEvent& event);
    void take_up(Open& open, std::vector<Subscription> subscriptions);
    void run();
    void tell(Open& open, Pending what);
    void send_mail(Open& open);
    void catch_up(Open& open);
    /// The event's id goes with the last of what is told of it: who got less asks for all again.
    void send(Open& open, const std::vector<std::string>& messages, std::int64_t heard);
    bool sees(const Open& open, const Uuid& board);

    Kernel& kernel_;
    Mailbox mailbox_;
    StreamPlaces places_;
    std::mutex mutex_;
    std::condition_variable due_;
    // Under mutex_; of an open stream, what is pending, how far it is and its subscriptions.
    std::list<Shared> open_;
    bool stopping_ = false;
    std::thread thread_;
};

/// An SSE event that carries one JSON text.
std::string sse_event(std::string_view json, std::string_view id = {});

}  // namespace svc::mcp

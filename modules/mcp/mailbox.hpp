#pragma once

#include "modules/mcp/sessions.hpp"

namespace svc::mcp {

/// Whom a transaction acts for.
struct Scope {
    Uuid org;
    std::optional<Uuid> user;

    static Scope of(const Caller& caller) { return {*caller.org_id, caller.user_id}; }
};

/// An answer that goes to its session by a stream.
struct Letter {
    std::int64_t sequence = 0;
    std::string message;
};
SVC_SHARED_RECORD(Letter, (sequence), (message));

struct Subscription {
    std::string uri;
    Uuid object_id;  ///< the board or the card
    Uuid board_id;
    auto operator<=>(const Subscription&) const = default;
};
SVC_SHARED_RECORD(Subscription, (uri), (object_id), (board_id));

/// What is kept of sessions in the database, where every server finds it. Any thread.
class Mailbox {
public:
    /// How many answers are there again after a stream broke off.
    static constexpr std::int64_t most_kept = 64;
    static constexpr std::int64_t most_bytes = 8 << 20;  ///< of them; of the newest any number
    /// How many sessions of a workspace have some.
    static constexpr std::int64_t most_sessions = 64;
    static constexpr std::size_t most_subscriptions = 100;
    static constexpr std::size_t most_at_once = 16;

    explicit Mailbox(Kernel& kernel) : kernel_(kernel) {}

    void put(const Scope& scope, const Session& session, const std::string& message);
    /// Those behind this one, in order; as many as come at once, or all that there are.
    std::vector<Letter> after(const Scope& scope, const Uuid& session, std::int64_t sequence);

    /// False when the session has as many as one may have.
    bool subscribe(const Scope& scope, const Session& session, const Subscription& to);
    void unsubscribe(const Scope& scope, const Uuid& session, std::string_view uri);
    std::vector<Subscription> subscriptions(const Scope& scope, const Uuid& session);

private:
    void transact(const Scope& scope, Tx::Mode mode, const std::function<void(Tx&)>& work);

    Kernel& kernel_;
};

/// Old messages go every hour, also where none come any more.
void add_mailbox_sweep(Kernel& kernel);

}  // namespace svc::mcp

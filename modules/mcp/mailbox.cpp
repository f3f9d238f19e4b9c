#include "modules/mcp/mailbox.hpp"

namespace svc::mcp {

namespace {

// What is old goes with whatever comes next in the workspace. The row of the mailbox is locked
// until the message is committed, so that none with a lower number follows.
constexpr Sql put_message{"mcp.put_message", R"(
    WITH old_messages AS (
        DELETE FROM mcp_messages
         WHERE org_id = $1 AND created_time < now() - interval '1 hour'
    ), old_mailboxes AS (
        DELETE FROM mcp_mailboxes
         WHERE org_id = $1 AND expires_at < now()
    ), number AS (
        INSERT INTO mcp_mailboxes AS m (org_id, session_id, last, expires_at)
        VALUES ($1, $2, 1, $3)
        ON CONFLICT (org_id, session_id) DO UPDATE SET last = m.last + 1
        RETURNING last
    ), over AS (
        DELETE FROM mcp_messages
         WHERE org_id = $1 AND session_id = $2
           AND sequence <= (SELECT last FROM number) - $5::bigint
    )
    INSERT INTO mcp_messages (org_id, session_id, sequence, message)
    SELECT $1, $2, last, $4 FROM number
)"};

constexpr Sql messages_after{"mcp.messages_after", R"(
    SELECT sequence, message
      FROM mcp_messages
     WHERE org_id = $1 AND session_id = $2 AND sequence > $3
     ORDER BY sequence
     LIMIT $4::bigint
)"};

constexpr Sql add_subscription{"mcp.add_subscription", R"(
    WITH old AS (
        DELETE FROM mcp_subscriptions
         WHERE org_id = $1 AND expires_at < now()
    )
    INSERT INTO mcp_subscriptions (org_id, session_id, uri, object_id, board_id, expires_at)
    SELECT $1, $2, $3, $4, $5, $6
     WHERE (SELECT count(*) FROM mcp_subscriptions WHERE org_id = $1 AND session_id = $2)
           < $7::bigint
    ON CONFLICT (org_id, session_id, uri) DO UPDATE SET expires_at = EXCLUDED.expires_at
)"};

constexpr Sql remove_subscription{"mcp.remove_subscription", R"(
    DELETE FROM mcp_subscriptions
     WHERE org_id = $1 AND session_id = $2 AND uri = $3
)"};

constexpr Sql subscriptions_of{"mcp.subscriptions_of", R"(
    SELECT uri, object_id, board_id
      FROM mcp_subscriptions
     WHERE org_id = $1 AND session_id = $2
     ORDER BY uri
     LIMIT 100
)"};

}  // namespace

void Mailbox::transact(const Scope& scope, Tx::Mode mode, const std::function<void(Tx&)>& work) {
    kernel_.transact(mode, [&](Tx& tx) {
        tx.set_scope(scope.org, scope.user);
        work(tx);
    });
}

void Mailbox::put(const Scope& scope, const Session& session, const std::string& message) {
    transact(scope, Tx::Mode::write, [&](Tx& tx) {
        tx.queue(put_message, scope.org, session.id, session.expires_at, message, most_kept);
    });
}

std::vector<Letter> Mailbox::after(const Scope& scope, const Uuid& session, std::int64_t sequence) {
    std::vector<Letter> letters;
    transact(scope, Tx::Mode::read, [&](Tx& tx) {
        letters = tx.all<Letter>(
            messages_after, scope.org, session, sequence, static_cast<std::int64_t>(most_at_once)
        );
    });
    return letters;
}

bool Mailbox::subscribe(const Scope& scope, const Session& session, const Subscription& to) {
    std::size_t added = 0;
    transact(scope, Tx::Mode::write, [&](Tx& tx) {
        added = tx.run(
            add_subscription,
            scope.org,
            session.id,
            to.uri,
            to.object_id,
            to.board_id,
            session.expires_at,
            static_cast<std::int64_t>(most_subscriptions)
        );
    });
    return added > 0;
}

void Mailbox::unsubscribe(const Scope& scope, const Uuid& session, std::string_view uri) {
    transact(scope, Tx::Mode::write, [&](Tx& tx) {
        tx.queue(remove_subscription, scope.org, session, uri);
    });
}

std::vector<Subscription> Mailbox::subscriptions(const Scope& scope, const Uuid& session) {
    std::vector<Subscription> all;
    transact(scope, Tx::Mode::read, [&](Tx& tx) {
        all = tx.all<Subscription>(subscriptions_of, scope.org, session);
    });
    return all;
}

}  // namespace svc::mcp

#include "modules/mcp/mailbox.hpp"

#include "svc/workspace_jobs.hpp"

namespace svc::mcp {

namespace {

/// A client that comes back has not been away for longer.
#define SVC_IS_OLD "created_time < now() - interval '1 hour'"

// What is old goes with whatever comes next in the workspace, and so does what is more than a
// session
// ($5 messages, $6 bytes) or a workspace ($7 sessions) may have: whoever asks and does not listen
// fills nothing. The row of the mailbox is locked until the message is committed, so that none with
// a lower number follows.
constexpr Sql put_message{"mcp.put_message", R"(
    WITH old_messages AS (
        DELETE FROM mcp_messages
         WHERE org_id = $1 AND )" SVC_IS_OLD R"(
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
           AND sequence <= greatest(
               (SELECT last FROM number) - $5::bigint,
               (SELECT max(k.sequence)
                  FROM (SELECT m.sequence,
                               sum(octet_length(m.message)) OVER (
                                   ORDER BY m.sequence DESC ROWS UNBOUNDED PRECEDING) AS bytes
                          FROM mcp_messages m
                         WHERE m.org_id = $1 AND m.session_id = $2) k
                 WHERE k.bytes + octet_length($4) > $6::bigint))
    ), crowd AS (
        DELETE FROM mcp_messages
         WHERE org_id = $1
           AND NOT EXISTS (
               SELECT FROM mcp_messages o WHERE o.org_id = $1 AND o.session_id = $2)
           AND session_id <> ALL (ARRAY(
               SELECT m.session_id FROM mcp_messages m
                WHERE m.org_id = $1
                GROUP BY m.session_id
                ORDER BY max(m.created_time) DESC
                LIMIT $7::bigint - 1))
    )
    INSERT INTO mcp_messages (org_id, session_id, sequence, message)
    SELECT $1, $2, last, $4 FROM number
)"};

constexpr std::string_view dropping = "mcp.drop_old_messages";

constexpr Sql workspaces_with_old_messages{"mcp.workspaces_with_old_messages", R"(
    SELECT DISTINCT org_id FROM mcp_messages
     WHERE org_id IS NOT NULL AND )" SVC_IS_OLD R"(
)"};

constexpr Sql drop_old_messages{"mcp.drop_old_messages", R"(
    DELETE FROM mcp_messages
     WHERE org_id = $1 AND )" SVC_IS_OLD R"(
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
        tx.queue(
            put_message,
            scope.org,
            session.id,
            session.expires_at,
            message,
            most_kept,
            most_bytes,
            most_sessions
        );
    });
}

void add_mailbox_sweep(Kernel& kernel) {
    add_sweep(
        kernel,
        {.name = std::string(dropping),
         .every = std::chrono::hours(1),
         .find = [&kernel] { return workspaces(kernel, workspaces_with_old_messages); },
         .work =
             [&kernel](JobRun& run) {
                 in_workspace(kernel, run.org(), dropping, [&](Tx& tx, Actor&) {
                     tx.queue(drop_old_messages, run.org());
                 });
                 return JobOutcome::done;
             }}
    );
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

// Tokens: a new secret for one, and its end.

#include "modules/agents/agents.hpp"
#include "modules/agents/lib/token_text.hpp"
#include "modules/agents/tokens.hpp"
#include "modules/agents/writes.hpp"
#include "modules/orgs/api.hpp"

namespace svc::agents {

namespace {

constexpr EventKind token_rotated{
    .name = "token.rotated",
    .object = "token",
    .summary = "A token was rotated; the old secret is refused.",
    .record = &record_of<TokenResponse>,
    .vetoable = false,
};
constexpr EventKind token_revoked{
    .name = "token.revoked",
    .object = "token",
    .summary = "A token has been revoked.",
    .record = &record_of<TokenResponse>,
    .vetoable = false,
};

constexpr Sql lock_token{"agents.lock_token", R"(
    SELECT now() AS now FROM tokens
    WHERE org_id = $1 AND id = $2
        AND ($3::uuid IS NULL OR owner_user_id = $3) AND ($4::uuid IS NULL OR agent_id = $4)
    FOR UPDATE)"};

constexpr Sql new_secret{"agents.rotate_token", R"(
    UPDATE tokens
    SET digest = decode($3, 'hex'), hint = $4, owner_user_id = $6,
        last_edited_time = now(), last_edited_by = $5, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql end_token{"agents.revoke_token", R"(
    UPDATE tokens
    SET revoked_at = now(), last_edited_time = now(), last_edited_by = $3, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

struct LockedToken {
    Timestamp now;
};
SVC_RECORD(LockedToken, (now));

struct TokenId {
    Uuid token_id;
};
SVC_RECORD(TokenId, (token_id, "One of your own tokens; an admin may name any."));

/// A token that is to be changed, locked. Nothing that was begun by it before is under way any more
/// when the change is answered.
class Change {
public:
    Change(Call& call, const Uuid& id) : call_(call) {
        const Reach reach(call.caller());
        Tx& tx = call.tx();
        auto locked = tx.later<LockedToken>(lock_token, call.org(), id, reach.owner, reach.agent);
        auto found = tx.later<TokenResponse>(find_token, call.org(), id);
        const auto lock = locked.one();
        auto token = found.one();
        if (!lock || !token || !reach.covers(*token)) not_found("token");
        await_writes_after(call, token->agent_id.value_or(id));
        call.require_version(token->version);
        now_ = lock->now;
        before = *std::move(token);
        after = before;
    }

    /// Stores it by `write` and emits it.
    template <class Write>
    void finish(const EventKind& kind, Write write) {
        after.last_edited_time = now_;
        after.last_edited_by = ref_of(call_.caller());
        after.version += 1;
        Event event = changed(kind, before, after);
        event.name = after.name;
        call_.check(event);
        write(call_.tx());
        call_.emit(event);
        call_.use<orgs::Directory>().bump_security_epoch(call_.tx(), after.org_id);
    }

    const Timestamp& now() const { return now_; }
    TokenResponse before, after;

private:
    Call& call_;
    Timestamp now_;
};

// --------------------------------------------------------------------------- rotate

/// Whoever sees the secret can act by it.
void require_right(const Caller& caller, const TokenResponse& token) {
    if (token.kind == TokenKind::integration &&
        (!caller.is_person() || caller.user_id != token.owner_user_id))
        throw Failure(
            Fault::restricted,
            "This token acts as its owner, so only its owner gets a new secret; you may revoke it."
        );
    const bool own = caller.token_id == token.id;
    if (!own && caller.scope.limits())
        throw Failure(
            Fault::restricted,
            "This token is limited to some operations, so it gets the secret of no other."
        );
    if (!own) require_person(caller, "gets the secret of another token");
    if (caller.token_id && !own && as_org_role(token.role) > caller.role)
        throw Failure(
            Fault::restricted,
            "This token may do more than you, so you cannot have its secret: its role is " +
                std::string(name_of(token.role)) + ", yours " + std::string(name_of(caller.role)) +
                "."
        );
}

void require_active(const TokenResponse& token) {
    if (token.status == TokenStatus::active) return;
    throw Failure(
        Fault::conflict,
        "The token is " + std::string(name_of(token.status)) + "; make another in its place."
    )
        .with("reason", "token_" + std::string(name_of(token.status)));
}

/// A client renews its secret by itself, and gets at no other.
void require_no_client(Call& call, const TokenResponse& token) {
    if (token.client)
        throw Failure(
            Fault::conflict,
            "A connected client renews this token by itself; revoke it to end the connection."
        )
            .with("reason", "token_of_client");
    if (call.caller().token_id != token.id && is_client(call.tx(), call.caller()))
        throw Failure(
            Fault::restricted, "A connected client gets the secret of no other token."
        );
}

TokenResponse rotate(Call& call, const TokenId& in) {
    Change change(call, in.token_id);
    require_right(call.caller(), change.before);
    require_no_client(call, change.before);
    require_active(change.before);
    const std::string secret = new_token();
    change.after.hint = hint_of(secret);
    // Whoever saw the secret is its ceiling from now on, and loses it with their seat.
    change.after.owner_user_id = *call.caller().user_id;
    change.finish(token_rotated, [&](Tx& tx) {
        tx.queue(
            new_secret,
            call.org(),
            in.token_id,
            digest_of(secret),
            change.after.hint,
            call.caller().id,
            change.after.owner_user_id
        );
    });
    auto token = call.tx().one<TokenResponse>(find_token, call.org(), in.token_id);
    token->token = secret;
    return *std::move(token);
}

const Operation rotate_token{
    .name = "rotate_token",
    .route = "POST /v1/tokens/{token_id}:rotate",
    .summary = "Rotate a token: it gets a new secret; the old one stops working at once.",
    .description =
        "The answer is the only place where the new secret is shown. Name, role, agent and expiry "
        "stay; its owner is whoever was given the secret. A token that acts as a person is rotated "
        "by that person alone; an agent's also by admins and, with this very token, by the agent.",
    .access = Access::member,
    .destructive = true,
    .versioned = true,
    .handler = rotate,
};

// --------------------------------------------------------------------------- revoke

/// A program that only reads is not to stop those that work.
void require_right_to_end(const Caller& caller, const TokenResponse& token) {
    if (!caller.token_id || caller.token_id == token.id) return;
    if (as_org_role(token.role) <= caller.role) return;
    throw Failure(
        Fault::restricted,
        "This token may do more than you, so you cannot end it: its role is " +
            std::string(name_of(token.role)) + ", yours " + std::string(name_of(caller.role)) + "."
    );
}

void revoke(Call& call, const TokenId& in) {
    Change change(call, in.token_id);
    require_right_to_end(call.caller(), change.before);
    if (change.before.status == TokenStatus::revoked) return;
    change.after.status = TokenStatus::revoked;
    change.after.revoked_at = change.now();
    change.finish(token_revoked, [&](Tx& tx) {
        tx.queue(end_token, call.org(), in.token_id, call.caller().id);
    });
}

const Operation revoke_token{
    .name = "revoke_token",
    .route = "DELETE /v1/tokens/{token_id}",
    .summary = "Revoke a token; it stops working at once.",
    .description =
        "Once this is answered nothing more that is done by it takes effect, on any server. A "
        "token "
        "ends itself, and of others those that may do no more than it may.",
    .access = Access::member,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = revoke,
};

// --------------------------------------------------------------------- with the seat

// A seat that is given anew does not bring back the tokens of the one before.
constexpr Sql end_with_seat{"agents.end_tokens_with_seat", R"(
    UPDATE tokens
    SET revoked_at = now(), last_edited_time = now(), last_edited_by = $3, version = version + 1
    WHERE org_id = $1 AND revoked_at IS NULL
      AND owner_user_id = (
          SELECT m.user_id FROM memberships m WHERE m.org_id = $1 AND m.id = $2))"};

/// Inside the transaction that takes the seat away; its audit entry covers them.
void end_tokens_of(Call& call, const Event& removed) {
    call.tx().queue(end_with_seat, call.org(), removed.id, call.caller().id);
}

}  // namespace

void add_token_changes(Kernel& kernel) {
    kernel.in_transaction(kernel.event_kind("member.removed"), end_tokens_of);
    kernel.add(token_rotated);
    kernel.add(token_revoked);
    kernel.add(rotate_token);
    kernel.add(revoke_token);
}

}  // namespace svc::agents

#pragma once

#include "modules/agents/shapes.hpp"
#include "svc/kernel.hpp"

#include <chrono>

/// What agents offers to whoever hands out tokens in another way than showing them once.
namespace svc::agents {

/// A client that a person connects: what it may do, as that person or as an agent.
struct ConnectionRequest {
    std::string client_name, client_host;
    /// Connections::mcp_doors, or nothing: the token is good everywhere.
    std::optional<std::string> audience;
    std::chrono::seconds lifetime{};  ///< of the connection while nothing comes over it
    TokenKind kind{};
    TokenRole role{};
    ToolScope scope;
    std::optional<Uuid> agent_id;
    std::optional<std::string> new_agent;  ///< its name
};

struct Connection {
    Uuid token_id;
    std::optional<Uuid> agent_id;
};

/// Whose token a secret is.
struct TokenPlace {
    Uuid org_id, token_id;
};

/// The tokens of connected clients. Such a token is listed, limited and revoked like any other; its
/// secret is given and renewed here alone. Offered by agents.
class Connections {
public:
    static constexpr std::string_view name = "agents.Connections";
    /// The doors of MCP, below /v1/mcp/.
    static constexpr std::string_view mcp_doors = "mcp";
    virtual ~Connections() = default;

    /// Makes the token, and the agent if it is to be a new one, for whoever calls; a Failure as
    /// create_token's. Nobody signs in by it before renew().
    virtual Connection connect(Call& call, const ConnectionRequest& request) = 0;

    /// Gives the token the secret of this seed of 32 bytes, good for `access`, and lets it live for
    /// another `lifetime`; the one before is refused from the commit on, on every server. False
    /// when the token is over: revoked, run out, its agent disabled, its owner gone or shut out.
    /// The transaction acts for the owner in the workspace.
    virtual bool renew(
        Tx& tx,
        const TokenPlace& place,
        std::string_view seed,
        std::chrono::seconds access,
        std::chrono::seconds lifetime
    ) = 0;
    /// The secret of a seed.
    virtual std::string secret_of(std::string_view seed) const = 0;

    /// Nothing when it is no secret of a token.
    virtual std::optional<TokenPlace> find(Kernel& kernel, std::string_view secret) const = 0;

    /// Revokes the token, and with `agent` deletes that agent, as the system; `why` is its name in
    /// the record. Nothing happens when it is over already.
    virtual void end(Kernel& kernel, const TokenPlace& place, std::string_view why) = 0;
    virtual void delete_agent(
        Kernel& kernel, const Uuid& org, const Uuid& agent, std::string_view why
    ) = 0;
};

}  // namespace svc::agents

#pragma once

#include "modules/agents/shapes.hpp"
#include "svc/kernel.hpp"

namespace svc::agents {

/// Which tokens a caller may look after: an admin all, a person their own, an agent its own.
struct Reach {
    std::optional<Uuid> owner, agent;

    explicit Reach(const Caller& caller) {
        if (caller.role >= OrgRole::admin) return;
        if (caller.is_person()) owner = caller.user_id;
        else agent = caller.id;
    }
    bool covers(const TokenResponse& token) const {
        return (!owner || token.owner_user_id == *owner) && (!agent || token.agent_id == *agent);
    }
};

inline constexpr Sql find_token{"agents.find_token", R"(
    SELECT * FROM token_view WHERE org_id = $1 AND id = $2)"};

/// Put the operations on tokens into the kernel.
void add_token_operations(Kernel& kernel);
void add_token_changes(Kernel& kernel);

}  // namespace svc::agents

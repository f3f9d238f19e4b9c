#pragma once

#include "modules/agents/shapes.hpp"
#include "svc/kernel.hpp"

/// Agents: what several files of this module do with them.
namespace svc::agents {

/// An agent that is about to be made, by the caller and for the person behind it.
AgentResponse draft(Call& call, const std::string& name, TokenRole role);

/// What the database says of a new agent.
struct Born {
    Timestamp created_time, resets_at;
    bool is_free = false;
};
SVC_SHARED_RECORD(Born, (created_time), (resets_at), (is_free));
/// Queues its rows.
DeferredRows<Born> insert(Call& call, const AgentResponse& agent);
/// Completes the draft, asks the vetoes and emits it.
void announce(Call& call, AgentResponse& agent, const Born& born);

/// The lasting address of a picture that the call's person has uploaded; a Failure 422 when there
/// is none.
Url picture_of(Call& call, const Uuid& file);

/// What gives agents more than they have, or shows a secret that does, takes a person: an agent
/// could shed its own limits by it, whatever its role.
inline void require_person(const Caller& caller, std::string_view doing) {
    if (caller.is_person()) return;
    throw Failure(
        Fault::restricted, "Only a person " + std::string(doing) + "; an agent has no say in it."
    );
}

inline constexpr Sql find_agent{"agents.find_agent", R"(
    SELECT * FROM agent_view WHERE org_id = $1 AND id = $2)"};

struct AgentId {
    Uuid agent_id;
};
SVC_SHARED_RECORD(AgentId, (agent_id, "An agent of the workspace."));

/// Put their operations and events into the kernel.
void add_agent_operations(Kernel& kernel);
void add_agent_changes(Kernel& kernel);
void add_agent_activity(Kernel& kernel);

}  // namespace svc::agents

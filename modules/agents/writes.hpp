#pragma once

#include "svc/kernel.hpp"

/// The end of a right is the end of what was being done by it.
///
/// Every transaction that writes by a token holds a lock, shared, under the name of the agent (or
/// of the integration token) until it is committed, and learns who it is after it got the lock.
/// Whoever takes the right away commits that first, then takes the lock for itself before it
/// answers: so what comes later finds the right gone whatever is under way, and what is under way
/// is over by the time of the answer. Nothing of it touches a row.
namespace svc::agents {

inline void hold_writes(Tx& tx, const Uuid& name) { tx.hold(name.str()); }

/// Once `call` is committed and before it is answered, waits for what is being written by `name`:
/// an agent's id, or an integration token's. It must be one of the call's workspace.
void await_writes_after(Call& call, const Uuid& name);

}  // namespace svc::agents

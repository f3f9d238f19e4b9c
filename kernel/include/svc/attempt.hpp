#pragma once

#include "svc/failure.hpp"
#include "svc/tx.hpp"

#include <functional>
#include <optional>

/// Parts of a transaction that succeed or fail by themselves.
namespace svc {

/// Runs `part` behind a savepoint. When it throws a Failure, or the database refuses what it
/// queued, all that it did in the transaction is undone and the failure is returned; nothing
/// otherwise. From then on it cannot be undone alone. Throws what else it throws, and the Failure
/// where the connection is of no use any more or where it is the server's fault (5xx): that concerns
/// all parts, and the whole can be repeated.
std::optional<Failure> attempt(Tx& tx, const std::function<void()>& part);

}  // namespace svc

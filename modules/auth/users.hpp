#pragma once

#include "modules/auth/shapes.hpp"
#include "svc/kernel.hpp"

/// The account of a person, as its owner sees it.
namespace svc::auth {

/// Queues the reading of the person the transaction acts for, as that session finds him: with
/// the workspace it works in and the role there.
Later<UserResponse> find_user_of_session(Tx& tx, const Uuid& session);

void add_user_operations(Kernel& kernel);

}  // namespace svc::auth

#pragma once

#include "svc/jobs.hpp"
#include "svc/kernel.hpp"

/// Workspaces that were deleted.
namespace svc::orgs {

/// Queues the end of everybody's rights in the workspace, and the job that empties it.
void mark_as_deleted(Kernel& kernel, Tx& tx, const Uuid& org);

/// Empties a workspace, its key; of the server as a whole, for the workspace ends with it.
JobKind deletion_job(Kernel& kernel);

}  // namespace svc::orgs

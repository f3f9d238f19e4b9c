#pragma once

#include "svc/kernel.hpp"

/// Workspaces that were deleted.
namespace svc::orgs {

/// Queues the end of everybody's rights in the workspace, which is emptied afterwards.
void mark_as_deleted(Tx& tx, const Uuid& org);

/// Empties them. On one thread, on every server.
class Deletions {
public:
    explicit Deletions(Kernel& kernel) : kernel_(kernel) {}

    /// Goes on for a moment, if there is any to empty.
    void go_on();

private:
    Kernel& kernel_;
    std::int64_t rows_ = 100;  // of a batch; more as long as it goes well
};

}  // namespace svc::orgs

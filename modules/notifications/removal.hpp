#pragma once

#include "modules/notifications/drafts.hpp"

/// Taking notifications away, and keeping count of what is unread meanwhile.
namespace svc::notifications {

struct Undone {
    bool more = false;         ///< there may be more
    std::set<Uuid> changed{};  ///< the workspaces whose open pages have something to hear of
};
/// Takes away some of what the event has made old.
Undone undo(Tx& tx, const Uuid& org, const Facts& facts, const Undoing& undoing);

/// The jobs: what is older than it is kept, and the marks of what was read all at once.
void add_retention(Kernel& kernel, std::int64_t keep_days);
/// Queues that what was unread in this inbox gets its marks.
void enqueue_settling(Kernel& kernel, Tx& tx, const Uuid& org, const Uuid& user);

}  // namespace svc::notifications

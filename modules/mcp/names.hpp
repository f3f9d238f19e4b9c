#pragma once

#include "modules/mcp/catalog.hpp"
#include "modules/queue/api.hpp"

namespace svc::mcp {

/// Whoever writes arguments calls boards, columns and people as people do: ENG, "In progress",
/// "Ada", "me". Here they become ids, before the operation sees them. Any thread.
class Names {
public:
    explicit Names(Kernel& kernel)
        : kernel_(kernel), lease_tokens_(kernel.find<queue::LeaseTokens>()) {}

    /// Puts ids in place of names, and the caller's workspace and the column's board where they are
    /// left out. `arguments` is an object. A name that nothing has, or several have, is a Failure
    /// 422 that lists what there is. No database when all are ids.
    void resolve(const Caller& caller, const Tool& tool, json::value& arguments) const;

private:
    Kernel& kernel_;
    const queue::LeaseTokens* lease_tokens_;  // null where there are no queues
};

}  // namespace svc::mcp

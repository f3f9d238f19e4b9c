#pragma once

#include <cstdint>
#include <vector>

namespace svc::webhooks {

/// What waits for a webhook.
struct Held {
    std::int64_t waiting = 0;
    bool halted = false;  ///< nothing is sent: it is not active, or its endpoint is left alone
};

/// How many deliveries a webhook and a workspace hold.
struct HeldBounds {
    std::int64_t webhook = 0;  ///< of one that is halted
    std::int64_t workspace = 0;
};

/// How many may wait for each of a workspace's webhooks, in their order. Whoever has most gives way
/// first when they are too many together.
std::vector<std::int64_t> most_held(const std::vector<Held>& all, HeldBounds bounds);

}  // namespace svc::webhooks

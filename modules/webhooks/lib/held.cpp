#include "modules/webhooks/lib/held.hpp"

#include <algorithm>

namespace svc::webhooks {

std::vector<std::int64_t> most_held(const std::vector<Held>& all, HeldBounds bounds) {
    std::vector<std::int64_t> most, kept;
    for (const Held& each : all) {
        most.push_back(each.halted ? std::min(bounds.webhook, bounds.workspace) : bounds.workspace);
        kept.push_back(std::min(each.waiting, most.back()));
    }
    // The level at which all that is cut off there and all that is below fit in.
    std::ranges::sort(kept);
    std::int64_t room = bounds.workspace, level = bounds.workspace;
    auto others = static_cast<std::int64_t>(kept.size());
    for (const std::int64_t each : kept) {
        if (each > room / others) {
            level = room / others;
            break;
        }
        room -= each;
        --others;
    }
    for (std::int64_t& each : most) each = std::min(each, level);
    return most;
}

}  // namespace svc::webhooks

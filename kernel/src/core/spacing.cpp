#include "svc/spacing.hpp"

namespace svc {

namespace {

/// A run of siblings, and what stands on its two sides.
struct Run {
    std::vector<Uuid> ids;
    OrderKey below, above;
};

Run run_around(std::vector<Standing> near, std::int64_t reach) {
    const auto above = std::ranges::count(near, true, &Standing::above);
    const auto below = static_cast<std::int64_t>(near.size()) - above;
    Run run;
    if (above > reach) {
        run.above = near.back().position;
        near.pop_back();
    }
    auto first = near.begin();
    if (below > reach) run.below = first++->position;
    for (; first != near.end(); ++first) run.ids.push_back(first->id);
    return run;
}

struct LockedSibling {
    Uuid id;
};
SVC_RECORD(LockedSibling, (id));

}  // namespace

std::vector<Uuid> make_room(
    Tx& tx, const Siblings& siblings, const Uuid& org, const Uuid& parent, const OrderKey& key
) {
    for (std::int64_t reach = 32;; reach *= 8) {
        Run run =
            run_around(tx.all<Standing>(siblings.near, org, parent, key.str(), reach + 1), reach);
        const auto keys = OrderKey::spread(run.below, run.above, run.ids.size());
        if (keys.empty()) continue;
        if (siblings.lock &&
            tx.all<LockedSibling>(*siblings.lock, org, parent, run.ids).size() < run.ids.size())
            return {};
        std::vector<std::string> texts;
        for (const OrderKey& each : keys) texts.push_back(each.str());
        tx.queue(siblings.place, org, run.ids, texts);
        return std::move(run.ids);
    }
}

}  // namespace svc

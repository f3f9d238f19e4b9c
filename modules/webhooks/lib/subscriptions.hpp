#pragma once

#include "svc/events.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace svc::webhooks {

/// What a webhook gets.
struct Subscription {
    Uuid id;
    /// Where events begin to be for it: behind the one that tells of its creation, which has this
    /// position. Nothing: that is still to come.
    std::optional<std::int64_t> since;
    std::optional<Uuid> board_id;
    std::vector<std::string> filters;

    bool takes(const StoredEvent& event) const;
};

/// Who gets which events, in memory, so that an event is matched without a statement. A change of a
/// webhook is an event too, and comes in its order: from then on its workspace is unknown, and
/// everything there is wanted, until it is loaded again. Any thread.
class Subscriptions {
public:
    /// Of each workspace what it has; nothing of one that has none.
    using Loaded = std::map<Uuid, std::vector<Subscription>>;
    /// What has to be loaded before some events are matched.
    struct Missing {
        bool all = false;        ///< of all workspaces
        std::vector<Uuid> orgs;  ///< or of these
        std::uint64_t as_of = 0;
        bool none() const { return !all && orgs.empty(); }
    };

    /// From here on all workspaces are unknown.
    void forget();
    /// Whether somebody may want the event. Asked of every event in order, for it takes note of
    /// those that change a webhook.
    bool wanted(const StoredEvent& event);

    Missing missing(std::span<const StoredEvent> events) const;
    /// Takes in what was loaded since `asked` was; what changed after that stays unknown.
    void learn(const Missing& asked, const Loaded& loaded);
    /// The webhooks that get the event: by what was `asked` and `loaded`, or is known.
    std::vector<Uuid> matching(const StoredEvent& event, const Missing& asked, const Loaded& loaded)
        const;

private:
    struct Known {
        std::vector<Subscription> subscriptions;
        bool unknown = false;
        std::uint64_t changed = 0;
    };

    mutable std::mutex mutex_;
    std::uint64_t clock_ = 0;  // counts changes
    bool all_unknown_ = true;
    std::uint64_t forgotten_ = 0;
    std::map<Uuid, Known> of_;  // workspaces that have some, or are unknown
};

}  // namespace svc::webhooks

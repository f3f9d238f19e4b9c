#pragma once

#include "svc/workspace_jobs.hpp"

#include <mutex>
#include <set>
#include <span>

namespace svc::live {
class PersonalStreams;
}

namespace svc::notifications {

/// Queues that an open page of a person's has news to show, in whichever of their workspaces: of
/// what belongs to none. The workspaces come back. Locks the person's inboxes in their order, so it
/// comes before anything that locks one of them.
DeferredRows<Workspace> note_personal_news(Tx& tx, const Uuid& person);
/// The same, if there is anything of that sort that the person has not read.
DeferredRows<Workspace> note_personal_news_if_unread(Tx& tx, const Uuid& person);

/// Tells the pages that people have open that their notifications have changed, and nothing of
/// what: they ask, and are shown what they may see then. On every server, for its own streams. Any
/// thread.
class Push {
public:
    static constexpr std::string_view name = "notifications.Push";  ///< offered to its parts

    explicit Push(Kernel& kernel);

    /// Something has changed in that workspace, and is committed.
    void changed(const Uuid& org);

private:
    using Reader = std::pair<Uuid, Uuid>;  // workspace and person
    void look_now_and_then();
    void look(live::PersonalStreams& streams, std::span<const Reader> readers);
    void forget_others(const Uuid& org, const std::set<Uuid>& readers);

    Kernel& kernel_;
    std::mutex mutex_;
    std::set<Uuid> changed_;  // under mutex_
    // The timer's own.
    std::map<Uuid, std::map<Uuid, std::int64_t>> told_;  // by workspace and person: which news
    int beats_ = 0;
};

}  // namespace svc::notifications

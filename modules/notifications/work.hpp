#pragma once

#include "modules/notifications/api.hpp"
#include "modules/notifications/push.hpp"
#include "modules/notifications/telling.hpp"

/// What notifications are still to be made of, and making them.
namespace svc::notifications {

/// Queues that these are told, in this order.
void enqueue_events(Kernel& kernel, Tx& tx, std::span<const StoredEvent* const> events);

/// What whoever runs the service has everybody know.
struct Broadcast {
    Uuid id;  ///< of one nobody is told twice
    std::string title, text;
    Timestamp expires_at;
};
/// Queues it for somebody: once for all of the person's workspaces, of which `org` is one.
void enqueue_broadcast(
    Kernel& kernel, Tx& tx, const Uuid& org, const Uuid& person, const Broadcast& what
);

struct WorkItem;

/// Makes notifications of what is queued: each in the transaction that takes it off, so once.
class Work final : public Notices {
public:
    Work(Kernel& kernel, const Settings& settings, Push& push);

    void post(Tx& tx, const Notice& notice) override;

private:
    JobOutcome run(JobRun& run);
    bool do_next(const Uuid& org);
    std::set<Uuid> make(Tx& tx, const Uuid& org, const WorkItem& item, bool& more);
    std::set<Uuid> make_of_event(Tx& tx, std::int64_t position, bool& more);
    void have_mentioned_watch(Tx& tx, const Facts& facts) const;
    void note_failure(const Uuid& org, const WorkItem& item, const std::string& why);

    Kernel& kernel_;
    Push& push_;
    const Telling telling_;
};

}  // namespace svc::notifications

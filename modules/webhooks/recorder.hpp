#pragma once

#include "modules/webhooks/lib/subscriptions.hpp"
#include "modules/webhooks/webhooks.hpp"

namespace svc::webhooks {

/// An event that a webhook gets.
struct Match {
    Uuid webhook_id;
    const StoredEvent* event = nullptr;
};

/// Writes down which webhooks get which events: a durable consumer of events.
class Recorder {
public:
    Recorder(Kernel& kernel, const Settings& settings, Sending& sending)
        : kernel_(kernel), settings_(settings), sending_(sending) {}

    Consumer consumer();

private:
    void record(Tx& tx, std::span<const StoredEvent> events);
    Subscriptions::Loaded load(Tx& tx, const Subscriptions::Missing& missing) const;
    void write(Tx& tx, const Uuid& org, std::span<const Match> matches);

    Kernel& kernel_;
    const Settings settings_;
    Sending& sending_;
    Subscriptions subscriptions_;
    /// Deliveries of each workspace since it was last looked at how many wait. The consumer's
    /// thread's.
    std::map<Uuid, std::int64_t> added_;
};

}  // namespace svc::webhooks

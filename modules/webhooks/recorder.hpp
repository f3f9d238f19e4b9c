#pragma once

#include "modules/webhooks/lib/subscriptions.hpp"
#include "modules/webhooks/webhooks.hpp"

namespace svc::webhooks {

/// Writes down which webhooks get which events: a durable consumer of events.
class Recorder {
public:
    Recorder(Kernel& kernel, Sending& sending) : kernel_(kernel), sending_(sending) {}

    Consumer consumer();

private:
    void record(Tx& tx, std::span<const StoredEvent> events);
    Subscriptions::Loaded load(Tx& tx, const Subscriptions::Missing& missing) const;

    Kernel& kernel_;
    Sending& sending_;
    Subscriptions subscriptions_;
};

}  // namespace svc::webhooks

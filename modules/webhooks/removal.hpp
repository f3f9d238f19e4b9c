#pragma once

#include "modules/webhooks/settings.hpp"
#include "svc/kernel.hpp"

/// What removes deliveries bit by bit.
namespace svc::webhooks {

/// Queues the job that removes a deleted webhook's deliveries, and then the webhook.
void enqueue_removal(Call& call, const Uuid& webhook);

/// Queues the job that drops a workspace's deliveries that are too old, or too many that wait.
void enqueue_drop(Kernel& kernel, Tx& tx, const Uuid& org);

/// Adds these kinds of jobs, and the one that looks every hour where something is to be dropped.
void add_removal(Kernel& kernel, const Settings& settings);

}  // namespace svc::webhooks

#pragma once

#include "svc/kernel.hpp"

/// What removes deliveries bit by bit.
namespace svc::webhooks {

/// Queues the job that removes a deleted webhook's deliveries, and then the webhook.
void enqueue_removal(Call& call, const Uuid& webhook);

/// Adds that kind of job, and the one that drops what is older than `keep_days`.
void add_removal(Kernel& kernel, std::int64_t keep_days);

}  // namespace svc::webhooks

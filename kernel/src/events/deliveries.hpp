#pragma once

#include "db/database.hpp"
#include "svc/events.hpp"
#include "svc/jobs.hpp"

#include <atomic>
#include <memory>
#include <vector>

/// Events on their way from a consumer to its subscribers (docs/events.md).
namespace svc::events {

/// An event that a subscriber is to get.
struct Delivery {
    Uuid org_id;
    std::int64_t sequence = 0, position = 0;
    std::string subscriber;
};

/// Queues the deliveries, and a job of that kind for each subscriber. The transaction acts for all
/// workspaces.
void hand_over(
    Tx& tx,
    Jobs& jobs,
    const Consumer& consumer,
    std::string_view kind,
    const std::vector<Delivery>& deliveries
);

/// What became of a consumer's deliveries on this server.
struct DeliveryCounts {
    std::atomic<std::uint64_t> delivered{0}, given_up{0};
};

/// The kind of job that hands a subscriber what is due to it, one by one in their order. The
/// database and the counts have to outlive it.
JobKind delivery_kind(
    db::Database& database, const Consumer& consumer, std::shared_ptr<DeliveryCounts> counts
);
std::string delivery_kind_of(const Consumer& consumer);

}  // namespace svc::events

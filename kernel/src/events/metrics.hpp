#pragma once

#include "db/database.hpp"
#include "svc/operator/upkeep.hpp"

#include <string>
#include <vector>

namespace svc::events {

/// How late the durable consumers of these names are, for /metrics, whichever server reads for
/// them. One round trip; a consumer's position is written down some seconds late where nothing was
/// handed over, and so much may be told too much.
std::vector<Metric> consumer_metrics(
    db::Database& database, const std::vector<std::string>& consumers
);

}  // namespace svc::events

#pragma once

#include "db/database.hpp"
#include "svc/operator/upkeep.hpp"

#include <string>
#include <vector>

namespace svc::events {

/// How late the durable consumers of these names are, for /metrics, whichever server reads for
/// them; what has no number yet, all wait for. One round trip. Where nothing was handed over, a
/// consumer's position is written down up to five seconds late, and the number is too high by as
/// much.
std::vector<Metric> consumer_metrics(
    db::Database& database, const std::vector<std::string>& consumers
);

}  // namespace svc::events

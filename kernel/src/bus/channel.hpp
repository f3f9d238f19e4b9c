#pragma once

#include "core/secret.hpp"
#include "db/database.hpp"

namespace svc::bus {

/// The channel that the servers of this database meet on, and nobody else of those that share a
/// Redis: named after their key and the database, for a copy of it has the same key.
std::string channel_of(db::Database& database, const core::Secret& secret);

}  // namespace svc::bus

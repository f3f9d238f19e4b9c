#pragma once

#include "core/secret.hpp"
#include "db/database.hpp"

#include <optional>

/// All servers of a database sign with one key: sessions of one would not count at another.
namespace svc::core {

/// The fingerprint of the key that this database's servers use; nothing before the first of them
/// has started. The table may be missing.
std::optional<std::string> recorded_key(db::Database& database);

/// Notes the key, in place of another.
void record_key(db::Database& database, const Secret& secret);

/// Notes the key when none is noted. Throws std::runtime_error, one line naming `place` (where the
/// key comes from), when this database's servers use another.
void hold_to_one_key(db::Database& database, const Secret& secret, const std::string& place);

}  // namespace svc::core

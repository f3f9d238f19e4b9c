#include "core/backup_lock.hpp"

#include "svc/operator/upkeep.hpp"

namespace svc {

namespace {

constexpr Sql try_shared_lock{"kernel.try_shared_backup_lock", R"(
    SELECT pg_try_advisory_xact_lock_shared($1) AS free)"};

struct Free {
    bool free = false;
};
SVC_RECORD(Free, (free));

}  // namespace

bool Upkeep::may_remove_bytes(Tx& tx) const {
    return tx.one<Free>(try_shared_lock, core::backup_lock).value().free;
}

}  // namespace svc

#include "bus/channel.hpp"

#include "db/errors.hpp"
#include "svc/encoding.hpp"

namespace svc::bus {

namespace {

constexpr Sql read_identity{"bus.read_identity", R"(
    SELECT c.system_identifier::text || '/' || d.oid::text AS identity
      FROM pg_control_system() c CROSS JOIN pg_database d
     WHERE d.datname = current_database())"};
// Where a provider keeps that function for itself.
constexpr Sql read_name{"bus.read_name", "SELECT current_database()::text AS identity"};

struct Identity {
    std::string identity;
};
SVC_RECORD(Identity, (identity));

std::string ask(db::Database& database, const Sql& sql) {
    std::string identity;
    database.transact(Tx::Mode::read, [&](Tx& tx) {
        identity = tx.one<Identity>(sql).value().identity;
    });
    return identity;
}

std::string identity_of(db::Database& database) try {
    return ask(database, read_identity);
} catch (const db::SqlError&) {
    return ask(database, read_name);
}

}  // namespace

std::string channel_of(db::Database& database, const core::Secret& secret) {
    const auto sum = secret.sign("bus.channel", identity_of(database));
    return "workboard_" + hex(std::string_view(sum).substr(0, 16));
}

}  // namespace svc::bus

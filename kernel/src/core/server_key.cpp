#include "core/server_key.hpp"

#include "db/errors.hpp"

namespace svc::core {

namespace {

struct Recorded {
    std::string fingerprint;
};
SVC_RECORD(Recorded, (fingerprint));

constexpr Sql read_key{"kernel.read_key", "SELECT fingerprint FROM server_key"};
constexpr Sql note_key{"kernel.note_key", R"(
    INSERT INTO server_key (fingerprint) VALUES ($1) ON CONFLICT (only_row) DO NOTHING)"};
constexpr Sql replace_key{"kernel.replace_key", R"(
    INSERT INTO server_key (fingerprint) VALUES ($1)
    ON CONFLICT (only_row) DO UPDATE SET fingerprint = excluded.fingerprint, noted_at = now())"};

}  // namespace

std::optional<std::string> recorded_key(db::Database& database) try {
    std::optional<Recorded> row;
    database.transact(Tx::Mode::read, [&](Tx& tx) { row = tx.one<Recorded>(read_key); });
    return row ? std::optional(row->fingerprint) : std::nullopt;
} catch (const db::SqlError& error) {
    if (error.state() != db::sqlstate::undefined_table) throw;
    return std::nullopt;
}

void record_key(db::Database& database, const Secret& secret) {
    database.transact(Tx::Mode::write, [&](Tx& tx) { tx.run(replace_key, secret.fingerprint()); });
}

void hold_to_one_key(db::Database& database, const Secret& secret, const std::string& place) {
    const std::string ours = secret.fingerprint();
    std::string theirs;
    database.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.run(note_key, ours);
        theirs = tx.one<Recorded>(read_key).value().fingerprint;
    });
    if (theirs == ours) return;
    throw std::runtime_error(
        place + ": the servers of this database use another key (fingerprint " + theirs +
        ", here " + ours +
        "); give this server theirs, or see `workboard key --help` to change it for all"
    );
}

}  // namespace svc::core

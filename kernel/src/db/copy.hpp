#pragma once

#include "db/connection.hpp"
#include "db/database.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Whole databases out and in, for backups: each table by COPY, as PostgreSQL of any version takes
/// it. Connections of their own, with no time limit on statements.
namespace svc::db {

using CopySink = std::function<void(std::string_view bytes)>;
/// The next piece, good until the one after it is asked for; empty at the end.
using CopySource = std::function<std::string_view()>;
using TextRows = std::vector<std::vector<std::string>>;

/// A table and those of its columns that hold something: generated ones are computed anew.
struct CopiedTable {
    std::string name;     ///< as SQL writes it
    std::string columns;  ///< the same, with commas
};

struct SequenceState {
    std::string name;  ///< as SQL writes it
    std::int64_t last_value = 1;
    bool is_called = false;
};

/// A session that runs scripts and copies. Throws std::runtime_error with what PostgreSQL said.
class CopySession {
public:
    explicit CopySession(const Settings& settings);

    /// The rows of the last statement.
    TextRows rows(const std::string& script);
    void run(const std::string& script) { rows(script); }
    /// How many rows went out.
    std::int64_t copy_out(const std::string& statement, const CopySink& to);
    /// How many rows came in.
    std::int64_t copy_in(const std::string& statement, const CopySource& from);

private:
    ResultPtr execute(const std::string& script);

    Connector connector_;
    Connection connection_;
};

/// The database as it is at one moment, rows of all workspaces. Nobody waits for it.
class Snapshot {
public:
    /// Holds the session advisory lock `lock` exclusively as long as the object lives, once
    /// whoever shares it has ended.
    Snapshot(const Settings& settings, std::int64_t lock);

    /// Throws std::runtime_error naming the table whose policies do not show all rows to this role:
    /// what is copied of it would not be whole.
    void require_sight() const;

    std::vector<CopiedTable> tables() const;
    std::vector<SequenceState> sequences() const;
    /// As kernel_migrations has them: module, number, name, SHA-256.
    TextRows migrations() const;
    /// The rows of a query; none when it asks for a table that was never made.
    TextRows rows(const Sql& query) const;
    /// How many rows were copied, which is checked against a count.
    std::int64_t copy(const CopiedTable& table, const CopySink& to) const;
    /// Ends the snapshot; the lock is kept.
    void end();

private:
    mutable CopySession session_;
};

/// In this database, but for one's own. Within a transaction what it sees is that of its first
/// look.
inline constexpr Sql count_other_sessions{"db.count_other_sessions", R"(
    SELECT count(*) AS others FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend')"};

/// Fills a database in one transaction: it is as before until commit().
class Refill {
public:
    explicit Refill(const Settings& settings);

    /// True when nothing of anybody's is in it.
    bool is_empty() const;
    /// Sessions that others have open in this database.
    std::int64_t other_sessions() const;
    /// Drops all that is in the schema, but not what belongs to extensions.
    void drop_all();
    /// Makes the schema.
    void apply(const std::vector<Migration>& steps);
    /// Takes away what keeps rows from coming in table by table, and rows that migrations made.
    void prepare(const std::vector<CopiedTable>& tables);
    std::int64_t copy(const CopiedTable& table, const CopySource& from);
    /// Puts back what prepare() took away; foreign keys are checked.
    void finish(const std::vector<SequenceState>& sequences);
    void commit();
    /// Afterwards: the first statements would be planned for empty tables.
    void analyze();

private:
    mutable CopySession session_;
    std::vector<std::string> afterwards_;
};

}  // namespace svc::db

#pragma once

#include "tests/support/in_process_server.hpp"

#include <libpq-fe.h>

namespace svc::test {

/// Somebody whose transaction stays open.
class LockHolder {
public:
    explicit LockHolder(const std::string& sql) : LockHolder(sql, in_process().url()) {}
    /// In a database of a server that is a process of its own.
    LockHolder(const std::string& sql, const std::string& database_url)
        : connection_(PQconnectdb(Postgres::shared().superuser_url(database_url).c_str())) {
        run("BEGIN");
        run(sql);
    }
    ~LockHolder() { PQfinish(connection_); }
    /// Goes on; throws when it is chosen to end a circle of those that wait for each other.
    void also(const std::string& sql) { run(sql); }
    /// Sessions of this database that wait for a lock.
    int waiting() {
        run("SELECT pg_stat_clear_snapshot()");
        return std::stoi(run(count_of_waiting));
    }
    /// What it did is done, and its locks are free.
    void commit() { run("COMMIT"); }
    /// The same once more than so many wait, or after a second. The database looks by itself: who
    /// waits briefly may have given up before a test on a busy machine sees it and says so.
    void commit_when_more_wait_than(int count) {
        run("DO $$ BEGIN WHILE (" + count_of_waiting + ") <= " + std::to_string(count) +
            " AND clock_timestamp() < statement_timestamp() + interval '1 second' "
            "LOOP PERFORM pg_sleep(0.002), pg_stat_clear_snapshot(); END LOOP; END $$; COMMIT");
    }
    LockHolder(const LockHolder&) = delete;
    LockHolder& operator=(const LockHolder&) = delete;

private:
    inline static const std::string count_of_waiting =
        "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity "
        "USING (pid) WHERE NOT granted AND datname = current_database()";

    /// The first value of the answer, if there is one.
    std::string run(const std::string& sql) {
        PGresult* result = PQexec(connection_, sql.c_str());
        const auto status = PQresultStatus(result);
        const bool has_value = PQntuples(result) > 0 && PQnfields(result) > 0;
        const std::string value = has_value ? PQgetvalue(result, 0, 0) : "";
        PQclear(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            throw std::runtime_error(PQerrorMessage(connection_));
        return value;
    }
    PGconn* connection_;
};

}  // namespace svc::test

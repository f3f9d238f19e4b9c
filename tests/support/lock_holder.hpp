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
    /// What it did is done, and its locks are free.
    void commit() { run("COMMIT"); }
    LockHolder(const LockHolder&) = delete;
    LockHolder& operator=(const LockHolder&) = delete;

private:
    void run(const std::string& sql) {
        PGresult* result = PQexec(connection_, sql.c_str());
        const auto status = PQresultStatus(result);
        PQclear(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            throw std::runtime_error(PQerrorMessage(connection_));
    }
    PGconn* connection_;
};

}  // namespace svc::test

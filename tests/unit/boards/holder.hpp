#pragma once

#include "tests/unit/boards/world.hpp"

#include <libpq-fe.h>

namespace svc::test {

/// Somebody whose transaction stays open.
class Holder {
public:
    explicit Holder(const std::string& sql)
        : connection_(PQconnectdb(Postgres::shared().superuser_url(world().url()).c_str())) {
        run("BEGIN");
        run(sql);
    }
    ~Holder() { PQfinish(connection_); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

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

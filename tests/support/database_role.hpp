#pragma once

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace svc::test {

/// What a statement came to: rows, or the refusal's SQLSTATE.
struct Outcome {
    std::string state;  ///< empty when it went well
    std::string message;
    std::size_t affected = 0;
    std::vector<std::vector<std::string>> rows;

    bool refused_by_policy() const { return state == "42501"; }
};

/// A connection as one role. One thread at a time.
class DatabaseRole {
public:
    explicit DatabaseRole(const std::string& url)
        : connection_(PQconnectdb(url.c_str()), &PQfinish) {
        if (PQstatus(connection_.get()) != CONNECTION_OK)
            throw std::runtime_error(PQerrorMessage(connection_.get()));
    }

    Outcome run(const std::string& sql) {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(
            PQexec(connection_.get(), sql.c_str()), &PQclear
        );
        Outcome out;
        if (const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE)) {
            out.state = state;
            out.message = PQresultErrorMessage(result.get());
            return out;
        }
        const std::string affected = PQcmdTuples(result.get());
        if (!affected.empty()) out.affected = std::stoul(affected);
        for (int row = 0; row < PQntuples(result.get()); ++row) {
            std::vector<std::string> values;
            for (int column = 0; column < PQnfields(result.get()); ++column)
                values.emplace_back(PQgetvalue(result.get(), row, column));
            out.rows.push_back(std::move(values));
        }
        return out;
    }
    /// Rows of a statement that has to go well.
    std::vector<std::vector<std::string>> must(const std::string& sql) {
        auto out = run(sql);
        if (!out.state.empty()) throw std::runtime_error(out.message + "in: " + sql);
        return out.rows;
    }
    /// In a transaction of its own that is undone.
    Outcome attempt(const std::string& settings, const std::string& sql) {
        must("BEGIN");
        must(settings);
        auto out = run(sql);
        must("ROLLBACK");
        return out;
    }

private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

}  // namespace svc::test

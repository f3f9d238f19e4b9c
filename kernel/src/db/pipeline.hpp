#pragma once

#include "db/connection.hpp"

#include <optional>
#include <span>
#include <vector>

namespace svc::db {

/// What the server answered to one statement.
struct Answer {
    ResultPtr result;
    Prepared* prepared = nullptr;
};

/// Statements that travel together: one send, one wait. What PostgreSQL has not seen yet on this
/// connection is prepared in the same round trip.
class Pipeline {
public:
    explicit Pipeline(Connection& connection) : connection_(connection) { expected_.reserve(8); }

    /// Adds a statement; `into`, if given, stays where it is until exchange() has returned.
    void add(const Sql& sql, std::span<const char* const> values, Answer* into);

    /// The first statement that failed; those behind it were not run.
    struct Refused {
        ResultPtr error;
        Sql sql;
    };
    /// Sends, waits for all answers and gives them out. Throws Lost, after which the connection
    /// is lost; otherwise it is ready for the next pipeline.
    std::optional<Refused> exchange();

    /// Names of the statements, for the log.
    std::string names(std::size_t most) const;

private:
    struct Expected {
        Sql sql;
        Prepared* prepared;
        bool prepares;  // the answer to the preparing itself
        Answer* into;
    };
    void take(Expected& expected, ResultPtr result, std::optional<Refused>& refused);
    void expect_end();

    Connection& connection_;
    std::vector<Expected> expected_;
};

}  // namespace svc::db

#pragma once

#include "svc/failure.hpp"

#include <libpq-fe.h>

#include <stdexcept>
#include <string>
#include <string_view>

/// What goes wrong in the database, and what it means for a request.
namespace svc::db {

/// The server refused a statement for a reason that is ours to repair. The text names the
/// statement and what PostgreSQL said; it is for the log.
class SqlError : public std::runtime_error {
public:
    SqlError(std::string state, const std::string& message)
        : std::runtime_error(message), state_(std::move(state)) {}
    const std::string& state() const { return state_; }  ///< SQLSTATE

private:
    std::string state_;
};

/// The connection broke, or the server did not answer in time. Never leaves this folder: whoever
/// knows what was sent decides whether that is a RetryTransaction or a 503.
class Lost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// 503 with Retry-After.
Failure unavailable(const std::string& message);

namespace sqlstate {
inline constexpr std::string_view canceled = "57014";
inline constexpr std::string_view not_locked = "55P03";
inline constexpr std::string_view undefined_table = "42P01";
inline constexpr std::string_view read_only = "25006";
}  // namespace sqlstate

/// A field of an error: PG_DIAG_SQLSTATE and its like. Empty when the server did not say.
std::string_view diagnostic(const PGresult* result, int field);

/// Somebody else has what the statement was to lock, and it was told not to wait longer.
bool waited_too_long(const PGresult* result);

/// The statement is to be prepared anew: a table has changed under its plan, or somebody
/// deallocated it.
bool wants_new_plan(const PGresult* result);
/// The server cannot go on with this session: it is shutting down, or has become a standby.
bool ends_session(const PGresult* result);

/// Throws what a statement's error means: ConstraintError, RetryTransaction, Failure or SqlError.
[[noreturn]] void throw_error(const PGresult* result, std::string_view statement);

}  // namespace svc::db

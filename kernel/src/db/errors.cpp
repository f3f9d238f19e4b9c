#include "db/errors.hpp"

#include "db/database.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <array>
#include <optional>

namespace svc {

ConstraintError::ConstraintError(Kind kind, std::string constraint, const std::string& message)
    : std::runtime_error(message), kind_(kind), constraint_(std::move(constraint)) {}

}  // namespace svc

namespace svc::db {

namespace {

std::optional<ConstraintError::Kind> constraint_kind(std::string_view state) {
    using Kind = ConstraintError::Kind;
    if (state == "23505") return Kind::unique;
    if (state == "23503") return Kind::foreign_key;
    if (state == "23514") return Kind::check;
    if (state == "23P01") return Kind::exclusion;
    return std::nullopt;
}

bool is_any_of(std::string_view state, auto... prefixes) {
    return (state.starts_with(prefixes) || ...);
}

/// Values that passed every check of ours and still do not fit: too large for their column's
/// type or for an index, or text that its type cannot read.
bool is_about_a_value(std::string_view state) { return is_any_of(state, "22", "54000", "54001"); }

/// The server is too busy, too full, or in the middle of something that passes.
bool passes(std::string_view state) {
    return is_any_of(
        state, sqlstate::canceled, sqlstate::not_locked, "53", "57P0", "58030", sqlstate::read_only
    );
}

/// Ended by its own time limit, as it would be the next time. Waiting for others has a shorter one
/// (lock_timeout) and another state; an operator who cancels says so.
bool took_too_long(const PGresult* result) {
    return diagnostic(result, PG_DIAG_SQLSTATE) == sqlstate::canceled &&
           diagnostic(result, PG_DIAG_MESSAGE_PRIMARY).find("user request") ==
               std::string_view::npos;
}

std::string text_of(const PGresult* result, std::string_view statement) {
    std::string text(statement);
    text += ": ";
    text += diagnostic(result, PG_DIAG_SQLSTATE);
    text += ' ';
    text += diagnostic(result, PG_DIAG_MESSAGE_PRIMARY);
    if (const auto where = diagnostic(result, PG_DIAG_STATEMENT_POSITION); !where.empty())
        (text += " at character ") += where;
    return text;
}

}  // namespace

Failure unavailable(const std::string& message) {
    return Failure(Fault::unavailable, message).with_header("Retry-After", "1");
}

std::string_view diagnostic(const PGresult* result, int field) {
    const char* text = PQresultErrorField(result, field);
    return text ? text : "";
}

bool wants_new_plan(const PGresult* result) {
    const auto state = diagnostic(result, PG_DIAG_SQLSTATE);
    // 0A000 is "not supported" in general; of these only the plan cache's complaint passes.
    return state == "26000" || (state == "0A000" && diagnostic(result, PG_DIAG_SOURCE_FUNCTION) ==
                                                        "RevalidateCachedQuery");
}

bool waited_too_long(const PGresult* result) {
    return diagnostic(result, PG_DIAG_SQLSTATE) == sqlstate::not_locked;
}

bool ends_session(const PGresult* result) {
    return is_any_of(
        diagnostic(result, PG_DIAG_SQLSTATE), "57P0", "08", "25P03", sqlstate::read_only
    );
}

void throw_error(const PGresult* result, std::string_view statement) {
    const std::string state(diagnostic(result, PG_DIAG_SQLSTATE));
    const std::string text = text_of(result, statement);
    if (const auto kind = constraint_kind(state))
        throw ConstraintError(
            *kind, std::string(diagnostic(result, PG_DIAG_CONSTRAINT_NAME)), text
        );
    if (is_any_of(state, "40001", "40P01") || wants_new_plan(result)) throw RetryTransaction(text);
    auto& log = Poco::Logger::get("db");
    if (is_about_a_value(state)) {
        log.warning(text);
        throw Failure::invalid_at(
            R"(["body"])", "value_error", "A value is beyond what can be stored."
        );
    }
    if (took_too_long(result)) {
        log.warning(text);
        throw Failure(
            Fault::timed_out,
            "This takes longer than the server works on one request; ask for less at a time."
        );
    }
    if (passes(state)) {
        log.warning(text);
        throw unavailable("The database is busy or restarting; try again in a moment.");
    }
    throw SqlError(state, text);
}

}  // namespace svc::db

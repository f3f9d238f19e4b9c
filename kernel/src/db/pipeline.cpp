#include "db/pipeline.hpp"

#include "db/errors.hpp"

namespace svc::db {

namespace {

/// Only the thread that uses the connection writes them, so no locked instruction is needed.
void add_to(std::atomic<std::uint64_t>& count, std::uint64_t more) {
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

void Pipeline::add(const Sql& sql, std::span<const char* const> values, Answer* into) {
    PGconn* native = connection_.native();
    Prepared& prepared = connection_.prepared(sql);
    if (into) into->prepared = &prepared;
    const auto refuse = [&] {
        const std::string why = PQerrorMessage(native);
        connection_.lose();
        throw Lost(std::string(sql.name) + ": cannot be sent: " + why);
    };
    if (!prepared.ready) {
        expected_.push_back({sql, &prepared, true, nullptr});
        const std::string text(sql.text);
        if (PQsendPrepare(native, prepared.name.data(), text.c_str(), 0, nullptr) != 1) refuse();
        prepared.ready = true;  // for the same statement further down; taken back if refused
    }
    expected_.push_back({sql, &prepared, false, into});
    if (PQsendQueryPrepared(
            native,
            prepared.name.data(),
            static_cast<int>(values.size()),
            values.data(),
            nullptr,
            nullptr,
            0
        ) != 1)
        refuse();
}

std::optional<Pipeline::Refused> Pipeline::exchange() {
    std::optional<Refused> refused;
    if (PQpipelineSync(connection_.native()) != 1) {
        connection_.lose();
        throw Lost(PQerrorMessage(connection_.native()));
    }
    connection_.flush();
    for (Expected& expected : expected_) {
        take(expected, connection_.next(), refused);
        expect_end();
    }
    const ResultPtr sync = connection_.next();
    if (PQresultStatus(sync.get()) != PGRES_PIPELINE_SYNC) {
        connection_.lose();
        throw Lost("the answers do not fit the statements");
    }
    Counts& counts = connection_.counts();
    add_to(counts.round_trips, 1);
    add_to(counts.statements, expected_.size());
    return refused;
}

void Pipeline::take(Expected& expected, ResultPtr result, std::optional<Refused>& refused) {
    switch (PQresultStatus(result.get())) {
        case PGRES_COMMAND_OK:
            if (expected.prepares) add_to(connection_.counts().prepared, 1);
            [[fallthrough]];
        case PGRES_TUPLES_OK:
            if (expected.into) expected.into->result = std::move(result);
            return;
        case PGRES_PIPELINE_ABORTED:
            if (expected.prepares) connection_.forget(*expected.prepared);
            return;
        case PGRES_FATAL_ERROR: break;
        default:
            connection_.lose();
            throw Lost(std::string(expected.sql.name) + ": neither rows nor done");
    }
    if (ends_session(result.get())) connection_.lose();
    if (expected.prepares) connection_.forget(*expected.prepared);
    else if (wants_new_plan(result.get())) connection_.forget_all();
    if (!refused) refused = Refused{std::move(result), expected.sql};
}

void Pipeline::expect_end() {
    if (!connection_.next()) return;
    connection_.lose();
    throw Lost("the answers do not fit the statements");
}

std::string Pipeline::names(std::size_t most) const {
    std::string text;
    std::size_t omit_empty = 0;
    for (const Expected& expected : expected_) {
        if (expected.prepares) continue;
        const std::string_view name = expected.sql.name;
        if (omit_empty > 0 || text.size() + name.size() + 2 > most) {
            ++omit_empty;
            continue;
        }
        if (!text.empty()) text += ", ";
        text += name;
    }
    if (omit_empty > 0) text += " and " + std::to_string(omit_empty) + " more";
    return text;
}

}  // namespace svc::db

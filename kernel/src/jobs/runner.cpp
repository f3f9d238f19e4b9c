#include "jobs/runner.hpp"

#include "decl/utf8.hpp"
#include "events/wake_signal.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::jobs {

namespace {

constexpr std::size_t longest_error = 2'000;  // bytes, of what a handler threw

/// As PostgreSQL takes it, whatever a handler threw.
std::string_view storable(std::string_view text) {
    if (!decl::utf8::well_formed(text) || text.find('\0') != text.npos)
        return "an error whose text is not UTF-8";
    return decl::utf8::beginning(text, longest_error);
}

template <class Write>
void write_end(db::Database& database, const Held& job, Write write) noexcept {
    try {
        database.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(job.org_id, std::nullopt);
            write(tx);
        });
    } catch (const std::exception& problem) {
        Poco::Logger::get("jobs").warning(
            "the end of " + job.kind + " " + job.key + " is not written: " + problem.what()
        );
    }
}

void write_failure(db::Database& database, const Run& run, const Ended& ended) noexcept {
    const JobKind& kind = run.kind();
    const bool last = !kind.every && (ended.permanent || run.last_attempt());
    auto pause = pause_after(kind, run.attempt());
    if (kind.every) pause = std::min(pause, *kind.every);
    write_end(database, run.held(), [&](Tx& tx) {
        fail(tx, run.held(), storable(*ended.error), last, pause);
    });
}

}  // namespace

Ended attempt(Run& run) {
    try {
        return {run.kind().run(run), std::nullopt, false};
    } catch (const JobFailed& failure) {
        return {{}, failure.what(), true};
    } catch (const std::exception& failure) {
        return {{}, failure.what(), false};
    }
}

void settle(db::Database& database, const Run& run, const Ended& ended) noexcept {
    if (run.completed()) return;
    if (ended.error) return write_failure(database, run, ended);
    if (ended.outcome == JobOutcome::more) return put_back(database, run);
    write_end(database, run.held(), [&](Tx& tx) {
        if (run.kind().every) repeat(tx, run.held(), *run.kind().every);
        else finish(tx, run.held());
    });
}

void put_back(db::Database& database, const Run& run) noexcept {
    write_end(database, run.held(), [&](Tx& tx) { repeat(tx, run.held(), {}); });
}

void give_up(db::Database& database, const Held& job) noexcept {
    constexpr std::string_view why = "Its server ended in the middle of every attempt.";
    Poco::Logger::get("jobs").error(job.kind + " " + job.key + " is given up: " + std::string(why));
    write_end(database, job, [&](Tx& tx) { fail(tx, job, why, true, {}); });
}

std::chrono::milliseconds pause_after(const JobKind& kind, std::int64_t attempts) {
    auto pause = kind.pause;
    for (; attempts > 1 && pause < kind.longest_pause; --attempts) pause *= 2;
    return events::jittered(std::min(pause, kind.longest_pause));
}

}  // namespace svc::jobs

// `workboard jobs`: what durable jobs there are, and what to do about those that failed.

#include "cli/commands.hpp"

#include "core/kernel_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace svc::cli {

namespace {

constexpr std::int64_t most_listed = 50;
constexpr std::string_view usage =
    "usage: workboard jobs list [KIND] | retry KIND [KEY] | "
    "cancel KIND [KEY]";

constexpr Sql count_by_state{"cli.count_jobs", R"(
    SELECT kind, state, count(*) AS jobs, min(due_at) AS due_at
    FROM jobs
    WHERE ($1::text IS NULL OR kind = $1)
    GROUP BY kind, state
    ORDER BY kind, state)"};

constexpr Sql list_failed{"cli.list_failed_jobs", R"(
    SELECT kind, org_id, key, attempts, due_at, coalesce(last_error, '') AS error
    FROM jobs
    WHERE state = 'failed' AND ($1::text IS NULL OR kind = $1)
    ORDER BY due_at DESC
    LIMIT $2)"};

constexpr Sql retry_failed{"cli.retry_jobs", R"(
    UPDATE jobs SET state = 'ready', due_at = now(), attempts = 0
    WHERE kind = $1 AND ($2::text IS NULL OR key = $2) AND state IN ('failed', 'waiting'))"};

constexpr Sql cancel_jobs{"cli.cancel_jobs", R"(
    DELETE FROM jobs WHERE kind = $1 AND ($2::text IS NULL OR key = $2) AND state <> 'running')"};

struct StateCount {
    std::string kind, state;
    std::int64_t jobs = 0;
    Timestamp due_at;
};
SVC_RECORD(StateCount, (kind), (state), (jobs), (due_at));

struct FailedJob {
    std::string kind;
    Uuid org_id;
    std::string key;
    std::int64_t attempts = 0;
    Timestamp due_at;
    std::string error;
};
SVC_RECORD(FailedJob, (kind), (org_id), (key), (attempts), (due_at), (error));

/// On one line, whatever is in it.
std::string printable(std::string text) {
    for (char& each : text)
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7F) each = ' ';
    return text;
}

void list(core::App& app, const std::optional<std::string>& kind) {
    std::vector<StateCount> counts;
    std::vector<FailedJob> failed;
    app.database().transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        auto counted = tx.later<StateCount>(count_by_state, kind);
        auto listed = tx.later<FailedJob>(list_failed, kind, most_listed);
        counts = counted.all();
        failed = listed.all();
    });
    if (counts.empty()) fmt::print("There are no jobs{}.\n", kind ? " of this kind" : "");
    for (const StateCount& each : counts)
        fmt::print(
            "{:<32} {:<8} {:>8}   {} {}\n",
            each.kind,
            each.state,
            each.jobs,
            each.state == "waiting"   ? "next at"
            : each.state == "running" ? "leased until"
                                      : "since",
            each.due_at.str()
        );
    for (const FailedJob& each : failed)
        fmt::print(
            "failed: {} {}{} after {} attempts at {}: {}\n",
            each.kind,
            printable(each.key),
            each.org_id.nil() ? "" : " of workspace " + each.org_id.str(),
            each.attempts,
            each.due_at.str(),
            printable(each.error)
        );
}

/// Null for those of modules that are off, and of consumers, which are declared while a server
/// runs.
const JobKind* declared_kind(core::App& app, const std::string& kind) {
    const auto& kinds = app.kernel().impl().jobs.kinds();
    const auto found = std::ranges::find(kinds, kind, &JobKind::name);
    return found == kinds.end() ? nullptr : &*found;
}

/// Only a server that starts would make it again.
void require_not_recurring(core::App& app, const std::string& kind) {
    const JobKind* declared = declared_kind(app, kind);
    if (declared && declared->every)
        throw std::runtime_error(
            kind +
            " recurs: without its job it would not run before a server starts again. "
            "`workboard jobs retry` has it tried at once"
        );
}

void change(
    core::App& app, const Sql& how, const std::string& kind, const std::optional<std::string>& key
) {
    std::size_t changed = 0;
    app.database().transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        changed = tx.run(how, kind, key);
    });
    if (changed == 0 && !declared_kind(app, kind))
        throw std::runtime_error(
            "there are no such jobs of the kind " + kind +
            "; `workboard jobs list` names those there are"
        );
    fmt::print("{} jobs\n", changed);
}

}  // namespace

int jobs(const Words& given) {
    const auto& words = given.words;
    const std::string what = words.size() > 1 ? words[1] : "list";
    const auto word = [&](std::size_t at) {
        return words.size() > at ? std::optional(words[at]) : std::nullopt;
    };
    const bool known = what == "list" || what == "retry" || what == "cancel";
    if (!known || (what != "list" && !word(2)) || words.size() > (what == "list" ? 3U : 4U))
        throw std::runtime_error(std::string(usage));
    core::App app = make_app(given);
    app.open_modules(core::App::Touch::look);
    app.open_database(core::App::Touch::look);
    require_migrated(app);
    if (what == "list") return list(app, word(2)), 0;
    if (what == "cancel") require_not_recurring(app, *word(2));
    change(app, what == "retry" ? retry_failed : cancel_jobs, *word(2), word(3));
    return 0;
}

}  // namespace svc::cli

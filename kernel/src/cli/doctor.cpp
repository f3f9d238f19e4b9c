#include "cli/commands.hpp"
#include "core/kernel_impl.hpp"
#include "core/server_key.hpp"

#include <fmt/format.h>

#include <memory>

namespace svc::cli {

namespace {

using core::App;
using Level = Finding::Level;

/// Prints a line for each check as it is made.
class Report {
public:
    void add(std::string_view name, const Finding& finding) {
        static constexpr const char* words[] = {"ok", "warning", "FAULT"};
        const auto level = static_cast<std::size_t>(finding.level);
        fmt::print("{:<8} {:<12} {}\n", words[level], name, finding.text);
        faults_ += finding.level == Level::fault;
        warnings_ += finding.level == Level::warning;
    }
    /// What a check throws is its finding; false then.
    template <class Check>
    bool run(std::string_view name, Check check) try {
        add(name, check());
        return true;
    } catch (const std::exception& problem) {
        add(name, {Level::fault, problem.what()});
        return false;
    }
    int end() const {
        fmt::print("{} faults, {} warnings\n", faults_, warnings_);
        return faults_ == 0 ? 0 : 1;
    }

private:
    int faults_ = 0, warnings_ = 0;
};

Finding check_schema(App& app) {
    const auto pending = app.pending_migrations();
    if (pending.empty()) return {Level::ok, "the schema is up to date"};
    return {Level::warning, migrations_pending(pending.size())};
}

Finding check_key(App& app, bool with_database) {
    const auto& secret = app.secret();
    const std::string place = app.place_of_secret();
    const auto recorded = with_database ? core::recorded_key(app.database()) : std::nullopt;
    if (!secret.lasts()) {
        if (!recorded) return {Level::ok, "none yet; `serve` makes " + place};
        return {
            Level::fault,
            place + " is missing, and this database's servers have a key (" + *recorded + ")"};
    }
    if (recorded && *recorded != secret.fingerprint())
        return {
            Level::fault,
            fmt::format(
                "{}: the servers of this database use another key (fingerprint {}, here {})",
                place,
                *recorded,
                secret.fingerprint()
            )};
    return {Level::ok, "fingerprint " + secret.fingerprint() + ", from " + place};
}

/// Whether there is one that answers. A server that was never started has no database of its own
/// yet, which is no fault.
bool open_database(App& app, Report& report) {
    bool made = true;
    const bool well = report.run("database", [&]() -> Finding {
        made = app.database_was_made();
        if (!made) return {Level::ok, "none yet; `serve` makes its own"};
        app.open_database(App::Touch::look);
        return {
            Level::ok,
            app.has_own_database() ? "the server's own answers" : "database.url answers"};
    });
    return made && well;
}

}  // namespace

int doctor(const Words& words) {
    Report report;
    std::unique_ptr<App> app;
    const bool opened = report.run("settings", [&]() -> Finding {
        app.reset(new App(make_app(words)));
        app->open_modules(App::Touch::look);
        return {Level::ok, fmt::format("{} modules load", app->modules().size())};
    });
    if (!opened) return report.end();
    const bool there = open_database(*app, report);
    if (there) report.run("schema", [&] { return check_schema(*app); });
    report.run("key", [&] { return check_key(*app, there); });
    for (const Check& each : app->kernel().impl().upkeep.checks())
        if (there || !each.needs_database) report.run(each.name, each.run);
    return report.end();
}

}  // namespace svc::cli

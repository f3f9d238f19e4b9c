#include "cli/commands.hpp"
#include "core/kernel_impl.hpp"
#include "core/server_key.hpp"
#include "svc/bus.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <fmt/format.h>

#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <memory>

namespace svc::cli {

namespace {

using core::App;
using Level = Finding::Level;
using Clock = std::chrono::steady_clock;

struct Now {
    Timestamp now;
};
SVC_RECORD(Now, (now));

constexpr Sql read_clock{"cli.read_clock", "SELECT statement_timestamp() AS now"};

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

Finding check_address(const App& app) {
    const auto& server = app.server_settings();
    if (!server.base_url.empty()) return {Level::ok, server.base_url};
    if (core::is_loopback(server.address))
        return {Level::ok, "server.base_url is empty: links lead to this machine"};
    return {
        Level::warning,
        "server.base_url is empty, so links in mails begin with " + server.address +
            "; set it to the address people use"};
}

Finding check_certificate(const App& app) {
    constexpr std::int64_t day = 86400, soon = 14;
    const auto left = app.check_certificate();
    if (!left) return {Level::ok, "none: the server speaks plain HTTP"};
    const auto& file = app.server_settings().certificate;
    if (*left <= 0) return {Level::fault, file + " has expired"};
    return {
        *left < soon * day ? Level::warning : Level::ok,
        fmt::format("{} fits its key and expires in {} days", file, *left / day)};
}

Finding check_schema(App& app) {
    const auto pending = app.pending_migrations();
    if (pending.empty()) return {Level::ok, "the schema is up to date"};
    return {Level::warning, migrations_pending(pending.size())};
}

Finding check_clock(App& app) {
    constexpr std::int64_t most = 2'000'000;  // microseconds
    Timestamp theirs;
    app.database().transact(Tx::Mode::read, [&](Tx& tx) {
        theirs = tx.one<Now>(read_clock).value().now;
    });
    const auto apart = std::llabs(Timestamp::now().micros - theirs.micros);
    if (apart <= most) return {Level::ok, "agrees with the database's"};
    return {
        Level::warning,
        fmt::format("{} s apart from the database's: set both by NTP", apart / 1'000'000)};
}

Finding check_search(App& app) {
    if (app.search_is_ready()) return {Level::ok, "answered by indexes"};
    return {
        Level::warning,
        "searches read whole workspaces; as a superuser, in this database, run: " +
            std::string(App::make_search_ready)};
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

/// Whether what is sent comes back, as it does to servers that run.
Finding check_bus(App& app) {
    auto* driver = app.kernel().find<BusDriver>();
    if (!driver) return {Level::ok, "none: servers hear of each other's changes by polling"};
    constexpr std::chrono::seconds patience{3};
    const std::string word = hex(random_bytes(8));
    const auto connection = driver->connect("workboard_check_" + word);
    connection->send(word);
    for (const auto until = Clock::now() + patience; Clock::now() < until;) {
        for (const auto& each : connection->receive())
            if (each == word) return {Level::ok, driver->describe() + " passes messages on"};
        pollfd one{connection->descriptor(), POLLIN, 0};
        poll(&one, 1, 100);
    }
    return {
        Level::fault,
        driver->describe() +
            " does not pass messages on; PostgreSQL needs a direct connection (bus-postgres.url)"
    };
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
    report.run("address", [&] { return check_address(*app); });
    report.run("certificate", [&] { return check_certificate(*app); });
    const bool there = open_database(*app, report);
    if (there) {
        report.run("schema", [&] { return check_schema(*app); });
        report.run("clock", [&] { return check_clock(*app); });
        report.run("search", [&] { return check_search(*app); });
        report.run("bus", [&] { return check_bus(*app); });
    }
    report.run("key", [&] { return check_key(*app, there); });
    for (const Check& each : app->kernel().impl().upkeep.checks()) report.run(each.name, each.run);
    return report.end();
}

}  // namespace svc::cli

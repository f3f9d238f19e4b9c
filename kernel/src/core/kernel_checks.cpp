#include "core/app.hpp"
#include "core/kernel_impl.hpp"
#include "svc/bus.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <fmt/format.h>

#include <poll.h>

#include <chrono>
#include <cstdlib>

namespace svc::core {

namespace {

using Level = Finding::Level;
using Clock = std::chrono::steady_clock;

struct Now {
    Timestamp now;
};
SVC_RECORD(Now, (now));

constexpr Sql read_clock{"kernel.read_clock", "SELECT statement_timestamp() AS now"};

struct Folding {
    bool folds = false;
};
SVC_RECORD(Folding, (folds));

constexpr Sql read_folding{"kernel.read_folding", "SELECT lower('Ä') = 'ä' AS folds"};

Finding check_address(const App& app) {
    const auto& server = app.server_settings();
    if (!server.base_url.empty()) return {Level::ok, server.base_url};
    if (is_loopback(server.address))
        return {Level::ok, "server.base_url is empty: links lead to this machine"};
    return {
        Level::warning,
        "server.base_url is empty, so links in mails begin with " + server.address +
            "; set it to the address people use"};
}

Finding check_its_certificate(const App& app) {
    constexpr std::int64_t day = 86400, soon = 14;
    const auto left = app.check_certificate();
    if (!left) return {Level::ok, "none: the server speaks plain HTTP"};
    const auto& file = app.server_settings().certificate;
    if (*left <= 0) return {Level::fault, file + " has expired"};
    return {
        *left < soon * day ? Level::warning : Level::ok,
        fmt::format("{} fits its key and expires in {} days", file, *left / day)};
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
    if (!app.search_is_ready())
        return {
            Level::warning,
            "searches read whole workspaces; as a superuser, in this database, run: " +
                std::string(App::make_search_ready)};
    bool folds = false;
    app.database().transact(Tx::Mode::read, [&](Tx& tx) {
        folds = tx.one<Folding>(read_folding).value().folds;
    });
    if (folds) return {Level::ok, "answered by indexes"};
    return {
        Level::warning,
        "the database's LC_CTYPE knows letters of ASCII alone, so other words are found only in the "
        "case they are written in; restore a backup into a database made with LC_CTYPE 'C.UTF-8'"};
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

}  // namespace

void App::add_kernel_checks() {
    Upkeep& upkeep = kernel_->impl().upkeep;
    const auto add = [&](const char* name, auto check, bool needs_database) {
        upkeep.add(Check{name, [this, check] { return check(*this); }, needs_database});
    };
    add("address", check_address, false);
    add("certificate", check_its_certificate, false);
    add("clock", check_clock, true);
    add("search", check_search, true);
    add("bus", check_bus, true);
}

}  // namespace svc::core

#include "cli/commands.hpp"
#include "core/server_key.hpp"
#include "db/copy.hpp"

#include <fmt/format.h>

namespace svc::cli {

namespace {

using core::App;
using core::Secret;

int show(App& app) {
    app.open_modules(App::Touch::look);
    app.open_database(App::Touch::look);
    const auto recorded = core::recorded_key(app.database());
    const bool lasts = app.secret().lasts();
    const std::string ours = lasts ? app.secret().fingerprint() : "none yet";
    fmt::print("this server  {}  {}\n", ours, app.place_of_secret());
    fmt::print("database     {}\n", recorded.value_or("none yet"));
    return lasts && recorded && *recorded != ours ? 1 : 0;
}

struct OtherSessions {
    std::int64_t others = 0;
};
SVC_RECORD(OtherSessions, (others));

/// A server that runs goes on with the key that it has read.
void require_that_none_runs(App& app) {
    require_no_other_sessions([&] {
        OtherSessions found;
        app.database().transact(Tx::Mode::read, [&](Tx& tx) {
            found = tx.one<OtherSessions>(db::count_other_sessions).value();
        });
        return found.others;
    });
}

int accept(App& app) {
    app.open_modules(App::Touch::look);
    open_to_change(app);
    require_that_none_runs(app);
    core::record_key(app.database(), app.secret());
    fmt::print("the servers of this database use {} from now on\n", app.secret().fingerprint());
    return 0;
}

int rotate(App& app) {
    app.open_modules(App::Touch::look);
    if (!app.server_settings().secret.empty())
        throw std::runtime_error(
            "the key is server.secret: change that in the settings of all servers, then run "
            "`workboard key accept`"
        );
    open_to_change(app);
    require_that_none_runs(app);
    const Secret made(Secret::random_key());
    Secret::keep(made.key(), app.place_of_secret());
    core::record_key(app.database(), made);
    fmt::print(
        "{} is new; the servers of this database use {} from now on\n",
        app.place_of_secret(),
        made.fingerprint()
    );
    return 0;
}

}  // namespace

int key(const Words& words) {
    const std::string what = words.words.size() == 2 ? words.words[1] : "";
    App app = make_app(words);
    if (what == "show") return show(app);
    if (what == "accept") return accept(app);
    if (what == "rotate") return rotate(app);
    throw std::runtime_error("usage: workboard key show | accept | rotate");
}

}  // namespace svc::cli

#include "cli/commands.hpp"

#include "core/app.hpp"
#include "core/kernel_impl.hpp"
#include "events/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

extern char** environ;

namespace svc::cli {

namespace {

using core::App;

constexpr auto look = App::Touch::look;

/// The file asked for, else the one in the working folder, else the one beside the program.
std::filesystem::path config_file(const Words& words, const core::Places& places) {
    if (!words.config.empty()) return words.config;
    for (const auto& each :
         {std::filesystem::path("config/workboard.toml"), places.share / "config/workboard.toml"})
        if (std::filesystem::exists(each)) return each;
    return {};
}

}  // namespace

bool Words::has(std::string_view name) const {
    return std::ranges::find(switches, name) != switches.end();
}

std::vector<std::filesystem::path> config_files(const Words& words) {
    const auto file = config_file(words, core::Places::of_this_program());
    return file.empty() ? std::vector<std::filesystem::path>{} : core::Config::files_of(file);
}

App make_app(const Words& words) {
    const auto places = core::Places::of_this_program();
    core::Config::Sources sources{
        .file = config_file(words, places), .environment = {}, .flags = words.settings};
    for (char** each = environ; *each; ++each) sources.environment.emplace_back(*each);
    return App(std::move(sources), places);
}

namespace {

int serve(const Words& words) {
    make_app(words).serve();
    return 0;
}

int migrate(const Words& words) {
    App app = make_app(words);
    app.open_modules();
    app.open_database();
    std::puts("The database is up to date.");
    return 0;
}

int check_config(const Words& words) {
    App app = make_app(words);
    app.open_modules(look);
    app.check_before_start();
    std::fputs(app.config().describe().c_str(), stdout);
    return 0;
}

int print_reference(const Words& words) {
    App app = make_app(words);
    app.open_modules(look);
    std::fputs(app.config().reference().c_str(), stdout);
    return 0;
}

int list_modules(const Words& words) {
    App app = make_app(words);
    app.open_modules(look);
    for (const auto& each : app.modules()) {
        const auto& card = *each.card;
        std::string line = fmt::format("{} {}", card.name, card.version);
        for (std::size_t i = 0; i < card.needs.size(); ++i)
            line += fmt::format("{}{}", i ? ", " : "  needs ", card.needs[i]);
        std::puts(line.c_str());
        for (const Declared& declared : app.kernel().operations())
            if (declared.module == card.name)
                std::puts(fmt::format(
                              "    {:<28} {}", declared.operation->name, declared.operation->route
                )
                              .c_str());
        for (const std::string& setting : app.config().settings_of(card.name))
            std::puts(fmt::format("    setting {}.{}", card.name, setting).c_str());
    }
    for (const auto& each : app.kernel().impl().commands)
        std::puts(fmt::format("command {:<14} {}", each.name, each.summary).c_str());
    return 0;
}

int openapi(const Words& words) {
    App app = make_app(words);
    app.open_modules(look);
    std::puts(app.kernel().openapi().c_str());
    return 0;
}

struct ChainedOrg {
    Uuid org_id;
};
SVC_RECORD(ChainedOrg, (org_id));

constexpr Sql orgs_with_chains{"cli.orgs_with_chains", R"(
    SELECT org_id FROM event_heads ORDER BY org_id)"};

int audit(const Words& words) {
    if (words.words.size() != 2 || words.words[1] != "verify")
        throw std::runtime_error("usage: workboard audit verify");
    App app = make_app(words);
    app.open_modules(look);
    app.open_database(look);
    std::vector<ChainedOrg> orgs;
    app.database().transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        orgs = tx.all<ChainedOrg>(orgs_with_chains);
    });
    int code = 0;
    for (const ChainedOrg& each : orgs) {
        const auto report = events::verify_audit(app.database(), each.org_id);
        fmt::print(
            "{}  {} entries, head {}: {}\n",
            each.org_id.str(),
            report.entries,
            report.head,
            report.fault ? "BROKEN: " + *report.fault : "the chain holds"
        );
        if (report.fault) code = 1;
    }
    return code;
}

constexpr Command all[] = {
    {.name = "serve",
     .help = "run the server",
     .run = serve,
     .more =
         "SIGTERM and SIGINT end it once running requests are answered. SIGHUP has it read the\n"
         "certificate, the scripts and, for logrotate, the file of log.access again.\n"},
    {"migrate", "bring the database's schema up to date", migrate},
    {"check-config", "say what would run, or what is wrong", check_config},
    {"config",
     "print every setting with its default, as config/workboard.toml has it",
     print_reference},
    {"modules", "list modules, their needs, operations and settings", list_modules},
    {"openapi", "print the OpenAPI document", openapi},
    {.name = "audit",
     .help = "`audit verify` checks the audit record's hash chain",
     .run = audit,
     .words = "verify",
     .more = "Ends with 1 when a chain is broken. Changes nothing.\n"},
    {.name = "doctor",
     .help = "check settings, certificate, key, database, mail and store",
     .run = doctor,
     .more =
         "Changes nothing. Ends with 0 when nothing is wrong (warnings may be there), else 1.\n"},
    {.name = "backup",
     .help = "save database, files, key and settings in one file",
     .run = backup,
     .words = "FILE [--allow-missing]",
     .more =
         "The server may be running. FILE is a tar archive that only you can read; it is there\n"
         "once it is whole. It holds the server's key: keep it as safe as the server.\n"
         "  --allow-missing   go on when the store has lost a file; the archive names it\n",
     .switches = "--allow-missing"},
    {.name = "restore",
     .help = "bring back what `backup` saved",
     .run = restore,
     .words = "FILE [--overwrite]",
     .more =
         "Into an empty database, with no server running. Everything in FILE is checked before\n"
         "anything is touched, and the database is filled in one transaction.\n"
         "  --overwrite       drop what the database holds, and replace var/server.key\n",
     .switches = "--overwrite"},
    {.name = "jobs",
     .help = "list durable jobs; retry or cancel those that failed",
     .run = jobs,
     .words = "list [KIND] | retry KIND [KEY] | cancel KIND [KEY]",
     .more = "  list    how many there are of each kind, and those that failed, with the reason\n"
             "  retry   have those that failed or wait tried at once\n"
             "  cancel  forget those that do not run; recurring ones stay\n"},
    {.name = "key",
     .help = "the key that all servers of the database sign with",
     .run = key,
     .words = "show | accept | rotate",
     .more = "  show    the fingerprints of this server's key and of the database's\n"
             "  accept  make this server's key the one of the database\n"
             "  rotate  make a new key in var/server.key, and accept it\n"
             "With another key all sessions end, and links to files and pages of lists that were\n"
             "given out; passwords and tokens stay. Stop all servers first.\n"},
};

/// The command that a module brings, the modules opened to look.
const svc::Command& module_command(App& app, const std::string& name) {
    app.open_modules(look);
    const auto& brought = app.kernel().impl().commands;
    const auto found = std::ranges::find(brought, name, &svc::Command::name);
    if (found == brought.end())
        throw std::runtime_error("there is no command " + name + "; `workboard help` lists them");
    return *found;
}

}  // namespace

std::string migrations_pending(std::size_t count) {
    return fmt::format(
        "{} migrations are pending; `workboard migrate` or `serve` applies them", count
    );
}

void require_migrated(App& app) {
    if (const auto pending = app.pending_migrations(); !pending.empty())
        throw std::runtime_error(migrations_pending(pending.size()));
}

void open_to_change(App& app) {
    app.open_database(look);
    const bool is_empty = app.pending_migrations().size() == app.migrations().size();
    if (!is_empty) require_migrated(app);
    app.make_folder_and_key();
    if (is_empty) app.migrate();
}

void require_no_other_sessions(const std::function<std::int64_t()>& count) {
    std::int64_t others = count();
    for (int looks = 0; others > 0 && looks < 20; ++looks) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        others = count();
    }
    if (others > 0)
        throw std::runtime_error(
            "the database has " + std::to_string(others) +
            " other sessions; stop all servers and whatever else uses it"
        );
}

std::span<const Command> commands() { return all; }

int run_module_command(const Words& words) {
    App app = make_app(words);
    const svc::Command& command = module_command(app, words.words.front());
    const bool looks =
        words.words.size() > 1 && std::ranges::count(command.looks, words.words[1]) > 0;
    if (command.needs_database && looks) {
        app.open_database(look);
        require_migrated(app);
    } else if (command.needs_database) {
        open_to_change(app);
    }
    return command.run(std::span(words.words).subspan(1));
}

std::string help_of_module_command(const Words& words) {
    App app = make_app(words);
    const svc::Command& command = module_command(app, words.words.front());
    return "workboard " + command.name + ": " + command.summary + "\n";
}

}  // namespace svc::cli

#include "modules/operators/status.hpp"

#include "modules/operators/lib/checker.hpp"
#include "modules/operators/lib/history.hpp"
#include "svc/operator/server_status.hpp"

#include <algorithm>
#include <cmath>

namespace svc::operators {

namespace {

enum class ModuleKind { kernel, feature, driver };
BOOST_DESCRIBE_ENUM(ModuleKind, kernel, feature, driver)

enum class Health { ok, warning, fault };
BOOST_DESCRIBE_ENUM(Health, ok, warning, fault)

struct HealthFinding {
    std::string name;
    Health health = Health::ok;
    std::string text;
};
SVC_RECORD(
    HealthFinding,
    (name, "The check, as `workboard doctor` names it, or the number that is too high."),
    (health, "What it says of the module."),
    (text, "What was found, in a line.")
);

struct ModuleState {
    std::string name;
    ModuleKind kind = ModuleKind::feature;
    std::string version;
    std::vector<std::string> needs;
    Health health = Health::ok;
    std::vector<HealthFinding> findings;
};
SVC_RECORD(
    ModuleState,
    (name, "As `modules` or `plugins` of the settings name it."),
    (kind,
     "`feature`: a module. `driver`: a plugin, what features talk to. `kernel`: the server itself."),
    (version, "The version it was built with."),
    (needs, "The modules that it builds on."),
    (health, "The worst of its findings; `ok` without any."),
    (findings, "What its checks found, and which of its numbers are above their limit.")
);

struct SettingState {
    std::string section;
    std::string name;
    std::string value;
    std::optional<std::string> source;
};
SVC_RECORD(
    SettingState,
    (section, "The module's, or the kernel's; empty: the top of the file."),
    (name, "Its key in the section."),
    (value, "What is in force, as TOML; secrets are not shown."),
    (source,
     "What has set it: a line of a file, a variable of the environment or a flag. `null`: it is the "
     "default.")
);

struct MetricState {
    std::string name;
    std::string labels;
    std::string help;
    double value = 0;
    std::string module;
    std::optional<double> limit;
    std::optional<std::vector<std::optional<double>>> history;
};
SVC_RECORD(
    MetricState,
    (name, "As /metrics names it."),
    (labels, "As /metrics writes them, such as `state=\"ready\"`; empty without any."),
    (help, "What it counts or measures."),
    (value, "Its value now."),
    (module, "Whose number it is: a module, or `kernel`."),
    (limit, "More than this is a warning of the module's health; `null`: there is no limit."),
    (history,
     "Of numbers that are charted: one value for each of `history_times`, `null` where it was not "
     "known.")
);

struct DatabaseState {
    std::string version;
    std::int64_t size_bytes = 0;
    std::int64_t connections = 0;
};
SVC_RECORD(
    DatabaseState,
    (version, "PostgreSQL's."),
    (size_bytes, "What the database takes on its disk."),
    (connections, "How many are open to it, of this server and others.")
);

struct ServerState {
    Object<"server_status"> object;
    std::string server_version;
    std::string base_url;
    DatabaseState database;
    Health health = Health::ok;
    std::optional<Timestamp> checked_time;
    std::vector<ModuleState> modules;
    std::vector<SettingState> settings;
    std::vector<Timestamp> history_times;
    std::vector<MetricState> metrics;
};
SVC_RECORD(
    ServerState,
    (object, "Always \"server_status\"."),
    (server_version, "The server's version."),
    (base_url, "The address that people reach it at."),
    (database, "The database."),
    (health, "The worst of all modules'."),
    (checked_time,
     "When the checks last ended. They run when this is asked for and a minute has passed; `null`: "
     "not yet."),
    (modules, "What is on: the kernel, and modules in the order in which they were opened."),
    (settings, "Every setting that is in force, and where it comes from."),
    (history_times, "When the values of each number's `history` were read: an hour, a minute apart."),
    (metrics,
     "Numbers of the process, requests, the database, jobs, queues, mails, webhooks and streams, "
     "ten seconds old at most.")
);

// For an account of these addresses; nothing is measured for others.
constexpr Sql look_at_database{"operators.look_at_database", R"(
    SELECT current_setting('server_version') AS version,
           pg_database_size(current_database()) AS size_bytes,
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
               AS connections
    FROM users u
    WHERE u.id = $1 AND u.email_verified AND u.email_key = ANY ($2::text[]))"};

Health health_of(Finding::Level level) {
    switch (level) {
    case Finding::Level::warning: return Health::warning;
    case Finding::Level::fault: return Health::fault;
    default: return Health::ok;
    }
}

/// What a module is called here that has no name of its own.
std::string named(const std::string& module) { return module.empty() ? "kernel" : module; }

std::vector<ModuleState> states_of(const std::vector<LoadedModule>& modules) {
    std::vector<ModuleState> out{
        {.name = named(""),
         .kind = ModuleKind::kernel,
         .version = SVC_VERSION,
         .needs = {},
         .findings = {}}};
    for (const auto& each : modules)
        out.push_back(
            {.name = each.name,
             .kind = each.is_driver ? ModuleKind::driver : ModuleKind::feature,
             .version = each.version,
             .needs = each.needs,
             .findings = {}}
        );
    return out;
}

void note(ServerState& out, const std::string& module, HealthFinding finding) {
    const auto found = std::ranges::find(out.modules, named(module), &ModuleState::name);
    if (found == out.modules.end()) return;
    found->health = std::max(found->health, finding.health);
    out.health = std::max(out.health, finding.health);
    found->findings.push_back(std::move(finding));
}

std::string too_high(const Metric& metric) {
    const auto rounded = [](double value) { return std::to_string(std::llround(value)); };
    return rounded(metric.value) + ", which is more than " + rounded(*metric.limit) + ": " +
           metric.help + (metric.labels.empty() ? "" : " (" + metric.labels + ")");
}

void add_metrics(ServerState& out, std::vector<Metric> metrics, History::Kept kept) {
    for (Metric& each : metrics) {
        if (each.limit && each.value > *each.limit)
            note(out, each.module, {each.name, Health::warning, too_high(each)});
        MetricState state{
            .name = std::move(each.name),
            .labels = std::move(each.labels),
            .help = std::move(each.help),
            .value = each.value,
            .module = named(each.module),
            .limit = each.limit,
            .history = {}};
        if (each.is_charted) {
            auto values = kept.values.extract({state.name, state.labels});
            state.history = values.empty() ? std::vector<History::Value>(kept.times.size())
                                           : std::move(values.mapped());
        }
        out.metrics.push_back(std::move(state));
    }
    out.history_times = std::move(kept.times);
}

ServerState status(Call& call, const Nothing&) {
    const auto& self = call.kernel().use<Looks>();
    std::vector<std::string> accounts;
    for (const Email& each : self.accounts) accounts.push_back(email_key(each));
    const auto database =
        call.tx().one<DatabaseState>(look_at_database, call.caller().id, accounts);
    if (!database) not_found("server_status");
    auto& server = call.kernel().use<ServerStatus>();
    ServerState out;
    out.server_version = SVC_VERSION;
    out.base_url = call.kernel().base_url();
    out.database = *database;
    out.modules = states_of(server.loaded_modules());
    for (auto& each : server.settings())
        out.settings.push_back(
            {std::move(each.section),
             std::move(each.name),
             std::move(each.value),
             each.source.empty() ? std::nullopt : std::optional(std::move(each.source))}
        );
    if (const auto results = self.checker->look()) {
        out.checked_time = results->checked_time;
        for (const auto& [module, name, finding] : results->findings)
            note(out, module, {name, health_of(finding.level), finding.text});
    }
    add_metrics(out, server.metrics(), self.history->kept());
    return out;
}

}  // namespace

const Operation get_server_status{
    .name = "get_server_status",
    .route = "GET /v1/operator/status",
    .summary = "Look at the server's state",
    .description =
        "The modules that are on and how they do, the settings and where each comes from, the "
        "database, and the numbers of /metrics. For the accounts of `operators.accounts`; there is "
        "none for others (404).",
    .access = Access::person,
    .tool = false,
    .for_people = true,
    .handler = status,
};

}  // namespace svc::operators

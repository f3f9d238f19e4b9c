#include "modules/operators/status.hpp"

#include "svc/operator/server_status.hpp"

namespace svc::operators {

namespace {

enum class ModuleKind { feature, driver };
BOOST_DESCRIBE_ENUM(ModuleKind, feature, driver)

struct ModuleState {
    std::string name;
    ModuleKind kind = ModuleKind::feature;
    std::string version;
    std::vector<std::string> needs;
};
SVC_RECORD(
    ModuleState,
    (name, "As `modules` or `plugins` of the settings name it."),
    (kind, "`feature`: a module. `driver`: a plugin, what features talk to."),
    (version, "The version it was built with."),
    (needs, "The modules that it builds on.")
);

struct MetricState {
    std::string name;
    std::string labels;
    std::string help;
    double value = 0;
};
SVC_RECORD(
    MetricState,
    (name, "As /metrics names it."),
    (labels, "As /metrics writes them, such as `state=\"ready\"`; empty without any."),
    (help, "What it counts or measures."),
    (value, "Its value now.")
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
    std::vector<ModuleState> modules;
    std::vector<MetricState> metrics;
};
SVC_RECORD(
    ServerState,
    (object, "Always \"server_status\"."),
    (server_version, "The server's version."),
    (base_url, "The address that people reach it at."),
    (database, "The database."),
    (modules, "What is on, in the order in which it was opened."),
    (metrics,
     "Numbers of the process, jobs, queues, mails, webhooks and streams, ten seconds old at most.")
);

// For an account of these addresses; nothing is measured for others.
constexpr Sql look_at_database{"operators.look_at_database", R"(
    SELECT current_setting('server_version') AS version,
           pg_database_size(current_database()) AS size_bytes,
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
               AS connections
    FROM users u
    WHERE u.id = $1 AND u.email_verified AND u.email_key = ANY ($2::text[]))"};

ServerState status(Call& call, const Nothing&) {
    std::vector<std::string> accounts;
    for (const Email& each : call.kernel().use<Settings>().accounts)
        accounts.push_back(email_key(each));
    const auto database =
        call.tx().one<DatabaseState>(look_at_database, call.caller().id, accounts);
    if (!database) not_found("server_status");
    auto& server = call.kernel().use<ServerStatus>();
    ServerState out;
    out.server_version = SVC_VERSION;
    out.base_url = call.kernel().base_url();
    out.database = *database;
    for (auto& each : server.loaded_modules())
        out.modules.push_back(
            {std::move(each.name),
             each.is_driver ? ModuleKind::driver : ModuleKind::feature,
             std::move(each.version),
             std::move(each.needs)}
        );
    for (auto& each : server.metrics())
        out.metrics.push_back(
            {std::move(each.name), std::move(each.labels), std::move(each.help), each.value}
        );
    return out;
}

}  // namespace

const Operation get_server_status{
    .name = "get_server_status",
    .route = "GET /v1/operator/status",
    .summary = "Look at the server's state",
    .description =
        "The modules that are on, the database, and the numbers of /metrics about jobs, queues, "
        "mails, webhooks and streams. For the accounts of `operators.accounts`; there is none for "
        "others (404).",
    .access = Access::person,
    .tool = false,
    .for_people = true,
    .handler = status,
};

}  // namespace svc::operators

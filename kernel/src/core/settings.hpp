#pragma once

#include "svc/types.hpp"

/// The kernel's own settings. config/workboard.toml is checked against these records.
namespace svc::core {

enum class LogForm { json, text };
BOOST_DESCRIBE_ENUM(LogForm, json, text)
enum class LogLevel { error, warning, notice, information, debug };
BOOST_DESCRIBE_ENUM(LogLevel, error, warning, notice, information, debug)

/// Nobody but this machine's own users reaches an address or a host name like this.
inline bool is_loopback(std::string_view host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// g++ 12 cannot count the members of an aggregate whose initialisers hold lists, so they are
// functions.
inline std::vector<std::string> shipped_modules() {
    return {
        "mail",
        "orgs",
        "auth",
        "agents",
        "boards",
        "files",
        "content",
        "queue",
        "webhooks",
        "automations",
        "feedback",
        "notifications",
        "live",
        "mcp",
        "oauth",
        "docs",
        "operators"};
}
inline std::vector<std::string> shipped_plugins() {
    return {
        "mail-smtp",
        "mail-file",
        "idp-oidc",
        "store-s3",
        "store-local",
        "bus-redis",
        "bus-postgres"};
}
inline std::vector<std::string> other_version_headers() { return {"Compat-Version"}; }

struct TopSettings {
    std::vector<std::string> modules = shipped_modules();
    std::vector<std::string> plugins = shipped_plugins();
};
SVC_SHARED_RECORD(
    TopSettings,
    (modules,
     "The features that are on; one left out takes its routes, tools and jobs with it.",
     defaulted),
    (plugins,
     "The drivers that are on: what the features talk to. Of several for the same thing the first "
     "that is set up counts.",
     defaulted)
);

struct ServerSettings {
    std::string address = "127.0.0.1";
    std::int64_t port = 8080;
    std::string base_url;
    std::string var = "var";
    std::string secret;
    std::int64_t workers = 16;
    std::int64_t queue = 1024;
    std::int64_t workers_per_principal = 0;
    std::int64_t workers_per_workspace = 0;
    std::int64_t background_requests = 0;
    std::int64_t queue_per_principal = 256;
    std::int64_t waiting_mebibytes = 64;
    std::int64_t answer_mebibytes = 8;
    std::int64_t waits_per_principal = 1000;
    std::int64_t max_connections = 19000;
    std::int64_t head_seconds = 10;
    std::int64_t body_seconds = 30;
    std::int64_t idle_seconds = 75;
    std::int64_t write_seconds = 30;
    std::int64_t drain_seconds = 0;
    std::int64_t stop_seconds = 10;
    std::string certificate;
    std::string key;
    std::int64_t https_only_days = 0;
    std::vector<std::string> trusted_proxies;
    std::vector<std::string> compat_version_headers = other_version_headers();
};
SVC_SHARED_RECORD(
    ServerSettings,
    (address, "Where to listen: an address of this machine.", length(1, 255), defaulted),
    (port, "0 takes any free port.", range(0, 65535), defaulted),
    (base_url,
     "The address people and programs use, without trailing slash; empty: the one listened on.",
     matches(R"((https?://[^/\s]\S*)?)"),
     defaulted),
    (var,
     "The folder for everything that changes: the database, mail, the server's key.",
     length(1, 4000),
     defaulted),
    (secret,
     "Signs sessions and cursors; the same for all servers of one database. Empty: the key in the "
     "file `server.key` below `var`, made when it is missing.",
     defaulted,
     ::svc::secret),
    (workers, "Requests served at once.", range(1, 256), defaulted),
    (queue, "Requests that may wait for a worker; beyond it 503.", range(1, 100000), defaulted),
    (workers_per_principal,
     "Requests of one caller that run at once, fewer when few workers are free; the others wait in "
     "line. Strangers count by their address. 0: half of the workers.",
     range(0, 256),
     defaulted),
    (workers_per_workspace,
     "Likewise of all callers of one workspace. 0: three quarters of the workers.",
     range(0, 256),
     defaulted),
    (background_requests,
     "Requests that run at once of those that took their callers long of late, and of callers who "
     "have many open all the time while others work; beside these half as many, with pauses. The "
     "rest wait in line. 0: as many as there are processors.",
     range(0, 256),
     defaulted),
    (queue_per_principal,
     "Requests of one caller that may wait in line; beyond it 429.",
     range(1, 100000),
     defaulted),
    (waiting_mebibytes,
     "Memory for requests that wait, for a worker or for something to happen; beyond it they are "
     "answered at once, with 503 if need be. One caller's may have a quarter of it in line.",
     range(1, 65536),
     defaulted),
    (answer_mebibytes,
     "An answer of an operation; a larger one is refused with 413.",
     range(1, 1024),
     defaulted),
    (waits_per_principal,
     "Requests of one caller that may wait for something to happen; the next does not wait.",
     range(1, 1000000),
     defaulted),
    (max_connections, "Connections held open at once.", range(10, 1000000), defaulted),
    (head_seconds, "For the whole head of a request.", range(1, 600), defaulted),
    (body_seconds, "For the whole body.", range(1, 3600), defaulted),
    (idle_seconds, "Between two requests of a connection.", range(1, 86400), defaulted),
    (write_seconds, "For a client that does not read its answer.", range(1, 3600), defaulted),
    (drain_seconds,
     "How long the server goes on as before when it is told to stop, with `/readyz` saying 503, so "
     "that load balancers send requests elsewhere. A second signal cuts it short.",
     range(0, 600),
     defaulted),
    (stop_seconds, "For running requests when the server is told to stop.", range(0, 600), defaulted
    ),
    (certificate,
     "A PEM file, the chain behind the certificate; with `key`, the server speaks TLS. SIGHUP has "
     "both read again.",
     defaulted),
    (key, "The certificate's private key, a PEM file.", defaulted),
    (https_only_days,
     "For how long browsers are to use nothing but HTTPS for this host (HSTS), also when a proxy "
     "does the TLS; 0: they are not told.",
     range(0, 3650),
     defaulted),
    (trusted_proxies,
     "Addresses or networks (10.0.0.0/8) whose X-Forwarded-* headers count.",
     defaulted),
    (compat_version_headers, "Headers accepted in place of X-Board-Version.", defaulted)
);

struct DatabaseSettings {
    std::string url;
    std::int64_t pool = 16;
    std::int64_t pool_wait_seconds = 5;
    std::int64_t statement_seconds = 5;
    std::int64_t slow_milliseconds = 200;
    bool synchronous_commit = true;
};
SVC_SHARED_RECORD(
    DatabaseSettings,
    (url, "PostgreSQL 15 or later; empty: the server runs its own, under `var`.", defaulted, secret
    ),
    (pool, "Connections at most.", range(2, 1000), defaulted),
    (pool_wait_seconds, "For a free connection, then 503.", range(1, 60), defaulted),
    (statement_seconds, "For one statement.", range(1, 600), defaulted),
    (slow_milliseconds,
     "A statement that takes longer is logged by its name.",
     range(1, 600000),
     defaulted),
    (synchronous_commit,
     "false trades the last moments before a crash for speed; what was acknowledged may be lost.",
     defaulted)
);

struct LogSettings {
    LogForm form = LogForm::json;
    LogLevel level = LogLevel::information;
    std::string access = "stdout";

    /// Whether `access` names a file.
    bool goes_to_file() const { return access != "stdout" && access != "off"; }
};
SVC_SHARED_RECORD(
    LogSettings,
    (form, "`json`, a line an event, or `text` for people.", defaulted),
    (level, "The least that is logged.", defaulted),
    (access,
     "Where the line of every request goes: `stdout`, `off` or a file, which SIGHUP has opened "
     "again.",
     length(1, 4000),
     defaulted)
);

struct MetricsSettings {
    std::string token;
};
SVC_SHARED_RECORD(
    MetricsSettings,
    (token,
     "What a request for /metrics has to present, as `Authorization: Bearer …`. Empty: a server "
     "that listens on this machine alone and has no other `base_url` shows them to anyone, and "
     "every other server to nobody.",
     defaulted,
     secret)
);

struct EventSettings {
    std::int64_t keep_days = 90;
};
SVC_SHARED_RECORD(
    EventSettings,
    (keep_days,
     "How long events can be read again; the audit record is kept.",
     range(1, 3650),
     defaulted)
);

}  // namespace svc::core

#include "lab.hpp"

#include "core/settings.hpp"
#include "load.hpp"
#include "statements.hpp"
#include "tests/support/places.hpp"
#include "tests/support/workspace.hpp"

namespace svc::bench {

namespace {

constexpr int board_count = 4;
constexpr int cards_of_each_queue = 200;

std::vector<std::string> cluster_settings() {
    auto settings = recording_settings();
    // What a small production machine would have; autovacuum runs as it would there. No checkpoint
    // comes by itself: what it costs would fall to whoever is measured just then.
    settings.insert(
        settings.end(),
        {"shared_buffers=512MB",
         "max_wal_size=16GB",
         "checkpoint_timeout=2h",
         "wal_keep_size=1GB",
         "max_connections=250",
         "autovacuum_naptime=15s"}
    );
    return settings;
}

}  // namespace

Lab::Lab(std::filesystem::path checkout)
    : checkout_(std::move(checkout)),
      postgres_(test::Postgres::Disk::durable, cluster_settings()),
      url_(postgres_.fresh_database()),
      var_("workboard-bench") {
    restart();
}

/// Everything that is shipped, and the module that only benchmarks have.
std::string Lab::modules_without(std::string_view module) {
    std::string out = "modules=";
    for (const auto& each : core::shipped_modules())
        if (each != module) out += each + ",";
    return out + "bench_answers";
}

test::Server::Options Lab::options(const std::vector<std::string>& settings) const {
    test::Server::Options options{
        .checkout = checkout_,
        .var = var_.path(),
        .database_url = url_,
        .settings = settings,
        .environment = {},
        .cheap_hashes = false,
    };
    return options;
}

test::Server& Lab::restart(
    const std::vector<std::string>& settings, const std::string& database_url
) {
    server_.reset();
    auto all = settings;
    if (checkout_.empty()) all.push_back(modules_without(""));
    auto how = options(all);
    if (!database_url.empty()) how.database_url = database_url;
    server_ = std::make_unique<test::Server>(how);
    return *server_;
}

const std::string& Lab::token() {
    if (token_.empty()) token_ = test::make_workspace(*server_).mint("integration", "bench");
    return token_;
}

const std::vector<QueueBoard>& Lab::boards() {
    if (boards_.empty()) fill();
    return boards_;
}

const std::vector<std::string>& Lab::cards() {
    if (cards_.empty()) fill();
    return cards_;
}

void Lab::fill() {
    auto client = server_->client();
    client.token(token());
    for (int b = 0; b < board_count; ++b) {
        QueueBoard board;
        board.id =
            test::expect(
                201,
                client.post(
                    "/v1/boards", boost::json::value{{"name", "Board " + std::to_string(b + 1)}}
                )
            ).text("/id");
        for (int c = 0; c < 2; ++c) {
            const boost::json::value column{
                {"name", "Queue " + std::to_string(c + 1)},
                {"kind", "queue"},
                {"queue", {{"enabled", true}}},
            };
            board.columns[c] =
                test::expect(201, client.post("/v1/boards/" + board.id + "/columns", column))
                    .text("/id");
            for (int i = 0; i < cards_of_each_queue; ++i) {
                const boost::json::value card{
                    {"column_id", board.columns[c]},
                    {"title", "Card " + std::to_string(i) + ": look into the slow export"},
                };
                cards_.push_back(
                    test::expect(201, client.post("/v1/boards/" + board.id + "/cards", card))
                        .text("/id")
                );
            }
        }
        boards_.push_back(std::move(board));
    }
    postgres_.run("VACUUM ANALYZE", url_);
}

double Lab::metric(const std::string& name) const {
    const auto text = server_->client().get("/metrics").body;
    const auto at = ("\n" + text).find("\n" + name + " ");
    if (at == std::string::npos) return 0;
    return std::stod(text.substr(at + name.size() + 1));
}

}  // namespace svc::bench

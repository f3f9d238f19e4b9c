#pragma once

#include "figure.hpp"

#include "tests/support/postgres.hpp"
#include "tests/support/server.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// Where everything is measured: a private PostgreSQL, the server on it, and a workspace with
/// boards in it, made through the interface as any client would.
namespace svc::bench {

struct Plan {
    int rounds = 5;
    int seconds = 2;        ///< of pressing, in each round of each variant
    bool extended = false;  ///< what takes an hour in full is not shortened
};

/// A board whose first two columns are queues. Cards that are completed in the one go to the
/// other, so that there is always something to claim.
struct QueueBoard {
    std::string id;
    std::string columns[2];
};

class Lab {
public:
    /// `checkout`: of another commit, built for release, to compare with.
    explicit Lab(std::filesystem::path checkout = {});

    const test::Postgres& postgres() const { return postgres_; }
    const std::string& database_url() const { return url_; }
    /// The URL of another database on the same cluster, empty.
    std::string another_database() { return postgres_.fresh_database(); }
    test::Server& server() { return *server_; }
    /// Stops the server and starts it with these settings, on this way to the database, instead.
    test::Server& restart(
        const std::vector<std::string>& settings = {}, const std::string& database_url = {}
    );
    void stop() { server_.reset(); }
    /// The setting for all modules but this one.
    static std::string modules_without(std::string_view module);
    /// How the server is started, for those who start it themselves.
    test::Server::Options options(const std::vector<std::string>& settings = {}) const;

    /// An integration token of the workspace's owner; like the boards, made when first asked for.
    const std::string& token();
    /// Boards with the same few hundred cards each.
    const std::vector<QueueBoard>& boards();
    const std::vector<std::string>& cards();

    /// A number of /metrics: its name with its labels, as it stands there; 0 when it does not.
    double metric(const std::string& name) const;

private:
    void fill();

    const std::filesystem::path checkout_;
    test::Postgres postgres_;
    std::string url_;
    test::TempFolder var_;
    std::unique_ptr<test::Server> server_;
    std::string token_;
    std::vector<QueueBoard> boards_;
    std::vector<std::string> cards_;
};

// The groups of figures.
void measure_answers(Lab& lab, const Plan& plan, Report& report);
void measure_trips(Lab& lab, const Plan& plan, Report& report);
void measure_reads(Lab& lab, const Plan& plan, Report& report);
void measure_writes(Lab& lab, const Plan& plan, Report& report);
void measure_boards(Lab& lab, const Plan& plan, Report& report);
void measure_people(Lab& lab, const Plan& plan, Report& report);
void measure_peers(Lab& lab, const Plan& plan, Report& report);
void measure_servers(Lab& lab, const Plan& plan, Report& report);
void measure_costs(Lab& lab, const Plan& plan, Report& report);
void measure_bloat(Lab& lab, const Plan& plan, Report& report);
void measure_before(Lab& lab, const Plan& plan, Report& report);
void measure_webhooks(Lab& lab, const Plan& plan, Report& report);
void measure_live(Lab& lab, const Plan& plan, Report& report);
void measure_notifications(Lab& lab, const Plan& plan, Report& report);
void measure_mcp(Lab& lab, const Plan& plan, Report& report);
void measure_idle(Lab& lab, const Plan& plan, Report& report);
void measure_start(Lab& lab, const Plan& plan, Report& report);

}  // namespace svc::bench

#pragma once

#include "tests/support/eventually.hpp"
#include "tests/support/metric.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/redis.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace svc::test {

namespace json = boost::json;
using namespace std::chrono_literals;

/// How servers wake each other: the settings for it.
struct Wakes {
    std::string name;
    std::vector<std::string> settings;
};
inline const std::string other_plugins = "plugins=mail-file,store-local";
inline Wakes by_polling() { return {"polling", {other_plugins}}; }
inline Wakes by_postgres() { return {"bus-postgres", {other_plugins + ",bus-postgres"}}; }
inline Wakes by_redis(std::uint16_t port) {
    return {
        "bus-redis",
        {other_plugins + ",bus-redis,bus-postgres",
         "bus-redis.host=127.0.0.1",
         "bus-redis.port=" + std::to_string(port)}
    };
}

/// Servers of one database, with a board that has a queue, and a client for each. The first leads.
struct Cluster {
    Cluster(const Wakes& wakes, int size, Postgres& postgres = Postgres::shared())
        : Cluster(std::vector<Wakes>(static_cast<std::size_t>(size), wakes), postgres) {}
    /// A server for each of these.
    explicit Cluster(const std::vector<Wakes>& all, Postgres& postgres = Postgres::shared())
        : database(postgres.fresh_database()) {
        for (const Wakes& each : all)
            servers.push_back(std::make_unique<Server>(
                Server::Options{.database_url = database, .settings = each.settings}
            ));
        workspace = std::make_unique<Workspace>(make_workspace(*servers.front()));
        const auto token = workspace->mint("agent", "Worker");
        for (const auto& each : servers) clients.emplace_back(each->client()).token(token);
        const auto made = expect(
            201,
            clients[0].post(
                "/v1/boards",
                json::value{
                    {"name", "Shop"},
                    {"columns",
                     {{{"name", "Do"}, {"kind", "queue"}}, {{"name", "Done"}, {"kind", "done"}}}}
                }
            )
        );
        board = made.text("/id");
        queue = made.text("/column_ids/0");
    }

    std::string claim_path() const {
        return "/v1/boards/" + board + "/columns/" + queue + ":claim-next";
    }
    Reply claim(std::size_t on, int wait) {
        return expect(200, clients[on].post(claim_path(), json::value{{"wait_seconds", wait}}));
    }
    Reply card(std::size_t on) {
        return expect(
            201,
            clients[on].post(
                "/v1/boards/" + board + "/cards",
                json::value{{"column_id", queue}, {"title", "Card"}}
            )
        );
    }

    /// How long a claim that waits on one server is answered after a card was made on another, in
    /// milliseconds from that answer on.
    double wake(std::size_t waiting, std::size_t writing) {
        Connection connection(servers[waiting]->port(), 30s);
        connection.write(clients[waiting].request(
            "POST", claim_path(), R"({"wait_seconds": 20})", {{"Content-Type", "application/json"}}
        ));
        if (!eventually([&] { return metric_of(*servers[waiting], "calls_waiting") == 1; }))
            throw std::runtime_error("the claim does not wait");
        // Not in step with whoever polls.
        std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 250));
        card(writing);
        const auto made = std::chrono::steady_clock::now();
        const auto answer = expect(200, connection.read("POST"));
        if (!answer.json().at("claimed").as_bool()) throw std::runtime_error("nothing was claimed");
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - made)
            .count();
    }

    bool all_know(std::size_t others) const {
        return std::ranges::all_of(servers, [&](const auto& each) {
            return eventually([&] {
                return metric_of(*each, "bus_connected") == 1 &&
                       metric_of(*each, "bus_peers") == static_cast<double>(others);
            });
        });
    }
    bool none_is_connected() const {
        return std::ranges::all_of(servers, [&](const auto& each) {
            return eventually([&] { return metric_of(*each, "bus_connected") == 0; });
        });
    }

    std::string database;
    std::deque<std::unique_ptr<Server>> servers;
    std::unique_ptr<Workspace> workspace;
    std::vector<Client> clients;
    std::string board, queue;

private:
    std::minstd_rand random_{7};
};

inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace svc::test

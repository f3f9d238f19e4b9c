#pragma once

#include "tests/support/database_role.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>

/// One client against the others, on the real program.
namespace svc::test {

namespace json = boost::json;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline std::chrono::milliseconds since(Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
}

/// A server, somebody who asks for too much of it, and somebody else. One for all tests that ask
/// for the same settings.
struct LimitedServer {
    explicit LimitedServer(std::vector<std::string> settings)
        : database(Postgres::shared().fresh_database()),
          server({.database_url = database, .settings = std::move(settings)}),
          greedy(make_workspace(server, "greedy@example.com", "Greedy")),
          other(make_workspace(server, "other@example.com", "Other")) {}

    static LimitedServer& with(const std::vector<std::string>& settings) {
        Postgres::shared();  // outlives those that use it
        static std::map<std::vector<std::string>, std::unique_ptr<LimitedServer>> all;
        auto& limited = all[settings];
        if (!limited) limited = std::make_unique<LimitedServer>(settings);
        return *limited;
    }

    const std::string database;
    Server server;
    Workspace greedy, other;
};

class LimitsTest : public testing::Test {
protected:
    explicit LimitsTest(const std::vector<std::string>& settings)
        : LimitsTest(LimitedServer::with(settings)) {}
    explicit LimitsTest(LimitedServer& limited)
        : database(limited.database),
          server(limited.server),
          greedy(limited.greedy),
          other(limited.other) {}

    Client with_token(Workspace& workspace, const std::string& name = "token") {
        Client client = server.client();
        client.token(workspace.mint("integration", name));
        return client;
    }
    std::string make_board(Client& client, const std::string& name = "Board") {
        return expect(201, client.post("/v1/boards", json::value{{"name", name}})).text("/id");
    }
    /// How long the other's question takes, the middle of so many.
    std::chrono::milliseconds asking(Client& client, int times = 9) {
        std::vector<std::chrono::milliseconds> took;
        for (int each = 0; each < times; ++each) {
            const auto begin = Clock::now();
            expect(200, client.get("/v1/me"));
            took.push_back(since(begin));
        }
        std::ranges::sort(took);
        return took[took.size() / 2];
    }
    double metric(const std::string& name) const {
        const std::string text = server.client().get("/metrics").body;
        const auto at = text.find("\nworkboard_" + name + " ");
        return at == text.npos ? -1 : std::stod(text.substr(at + name.size() + 12));
    }
    /// Whether the metric comes to be this number. The server counts a request as over only after
    /// its answer has gone out, so that whoever has an answer may still see it counted.
    bool becomes(const std::string& name, double number, std::chrono::milliseconds patience = 10s)
        const {
        return eventually([&] { return metric(name) == number; }, patience);
    }

    const std::string& database;
    Server& server;
    Workspace &greedy, &other;
};

}  // namespace svc::test

#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <atomic>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

/// Cards that many create at once on one board.
namespace svc::test {

namespace {

namespace json = boost::json;

struct Place {
    std::string board, column;
};

Place make_place(Client& client) {
    const Reply made = expect(201, client.post("/v1/boards", R"({"name": "Tickets"})"));
    return {made.text("/id"), made.text("/column_ids/0")};
}

Reply create(Client& client, const Place& place) {
    const json::value card{{"column_id", place.column}, {"title", "One of many"}};
    return expect(201, client.post("/v1/boards/" + place.board + "/cards", json::serialize(card)));
}

Client with_token(const Server& server, const std::string& token) {
    Client client = server.client();
    client.token(token);
    return client;
}

}  // namespace

TEST(ManyCreators, OnTwoServersNeverShareANumber) {
    const std::string database = Postgres::shared().fresh_database();
    const Server first({.database_url = database}), second({.database_url = database});
    Workspace workspace = make_workspace(first);
    const std::string token = workspace.mint("integration", "Importer");
    const Place place = make_place(workspace.client);

    constexpr int clients = 32, each = 12;
    std::mutex mutex;
    std::set<std::string> keys;
    std::vector<std::thread> creators;
    for (int i = 0; i < clients; ++i)
        creators.emplace_back([&, i] {
            Client client = with_token(i % 2 ? first : second, token);
            for (int n = 0; n < each; ++n) {
                const std::string key = create(client, place).text("/key");
                const std::scoped_lock lock(mutex);
                EXPECT_TRUE(keys.insert(key).second) << key;
            }
        });
    for (auto& creator : creators) creator.join();
    EXPECT_EQ(keys.size(), static_cast<std::size_t>(clients * each));
    const Reply board = expect(200, workspace.client.get("/v1/boards/" + place.board));
    EXPECT_EQ(board.json().at("card_count").to_number<int>(), clients * each);
}

TEST(ManyCreators, KeepToAColumnsHardLimit) {
    const Server server({.database_url = Postgres::shared().fresh_database()});
    Workspace workspace = make_workspace(server);
    const std::string token = workspace.mint("integration", "Importer");
    Place place = make_place(workspace.client);
    place.column = expect(
                       201,
                       workspace.client.post(
                           "/v1/boards/" + place.board + "/columns",
                           R"({"name": "Few", "wip_limit": 5, "wip_policy": "hard"})"
                       )
    )
                       .text("/id");
    std::atomic<int> created{0}, refused{0};
    std::vector<std::thread> creators;
    for (int i = 0; i < 16; ++i)
        creators.emplace_back([&] {
            Client client = with_token(server, token);
            for (int n = 0; n < 3; ++n) {
                const json::value card{{"column_id", place.column}, {"title", "One of few"}};
                const int status =
                    client.post("/v1/boards/" + place.board + "/cards", json::serialize(card))
                        .status;
                ++(status == 201 ? created : refused);
                EXPECT_TRUE(status == 201 || status == 409 || status == 503) << status;
            }
        });
    for (auto& creator : creators) creator.join();
    EXPECT_EQ(created, 5);
    EXPECT_EQ(refused, 43);
}

TEST(ManyCreators, LeaveNoNumberOutWhenTheServerIsStopped) {
    const std::string database = Postgres::shared().fresh_database();
    Server server({.database_url = database});
    Workspace workspace = make_workspace(server);
    const std::string token = workspace.mint("integration", "Importer");
    const Place place = make_place(workspace.client);
    Client client = with_token(server, token);
    std::string last;
    for (int i = 0; i < 5; ++i) last = create(client, place).text("/key");
    EXPECT_TRUE(last.ends_with("-5")) << last;

    EXPECT_EQ(server.end(SIGTERM), 0);
    server.start();
    Client again = with_token(server, token);
    last = create(again, place).text("/key");
    EXPECT_TRUE(last.ends_with("-6")) << last;
}

}  // namespace svc::test

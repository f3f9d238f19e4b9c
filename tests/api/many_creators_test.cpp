#include "tests/support/at_once.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/postgres_proxy.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <atomic>
#include <csignal>
#include <map>
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

// ---------------------------------------------------- of one caller, served together

namespace {

constexpr std::size_t workers = 12;

/// A board, and a token whose cards come at once.
struct Together {
    std::string database;
    Server server;
    Workspace workspace = make_workspace(server);
    Client client = with_token(server, workspace.mint("agent", "Reporter"));
    Place place = make_place(client);

    explicit Together(const std::string& database, const std::string& by_way_of = {})
        : database(database), server({.database_url = by_way_of.empty() ? database : by_way_of}) {}
    Together() : Together(Postgres::shared().fresh_database()) {}

    std::string path() const { return "/v1/boards/" + place.board + "/cards"; }
    std::vector<Sent> cards(const std::string& title) const {
        std::vector<Sent> all;
        for (std::size_t i = 0; i < workers; ++i)
            all.push_back(
                {path(), {{"column_id", place.column}, {"title", title + ' ' + std::to_string(i)}}}
            );
        return all;
    }
    std::string column(const std::string& settings) {
        return expect(201, client.post("/v1/boards/" + place.board + "/columns", settings))
            .text("/id");
    }
    std::string ask(const std::string& sql) const { return Postgres::shared().run(sql, database); }
};

std::string title_of(const Sent& sent) { return std::string(sent.body.at("title").as_string()); }

/// From here on the database refuses cards whose title has that word.
void refuse_poison(const std::string& database) {
    LockHolder(
        R"(CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'poison'; END $$;
           CREATE TRIGGER refuse_poison BEFORE INSERT ON cards FOR EACH ROW
           WHEN (NEW.title LIKE '%poison%') EXECUTE FUNCTION refuse_poison())",
        database
    )
        .commit();
}

}  // namespace

TEST(ManyCreators, OfOneCallerAreServedTogetherAndAnsweredEachForItself) {
    Together t;
    t.place.column = t.column(R"({"name": "Do", "kind": "queue"})");
    auto requests = t.cards("Card");
    const char* priorities[] = {"urgent", "high", "low", "none"};
    for (std::size_t i = 0; i < workers; ++i) {
        requests[i].body.as_object()["priority"] = priorities[i % 4];
        requests[i].body.as_object()["estimate"] = static_cast<double>(i) + 0.5;
        if (i % 3 == 0) requests[i].body.as_object()["due"] = "2026-12-24";
    }
    const auto before = together(t.server);
    const auto replies = at_once(t.client, t.database, requests);
    EXPECT_GE(together(t.server) - before, 5) << "they were served one by one";

    std::set<std::string> ids, keys;
    std::set<std::int64_t> positions;
    for (std::size_t i = 0; i < workers; ++i) {
        const auto card = expect(201, replies[i]).json();
        EXPECT_EQ(replies[i].header("etag"), "\"1\"");
        EXPECT_EQ(card.at("title"), requests[i].body.at("title"));
        EXPECT_EQ(card.at("priority"), requests[i].body.at("priority"));
        EXPECT_EQ(card.at("estimate").as_double(), static_cast<double>(i) + 0.5);
        EXPECT_EQ(card.at("due").is_null(), i % 3 != 0);
        EXPECT_EQ(replies[i].text("/queue/state"), "ready");
        ids.insert(replies[i].text("/id"));
        keys.insert(replies[i].text("/key"));
        positions.insert(card.at("position").to_number<std::int64_t>());
        const Reply read = expect(200, t.client.get("/v1/cards/" + replies[i].text("/id")));
        EXPECT_EQ(read.json(), card);
    }
    EXPECT_EQ(ids.size(), workers);
    EXPECT_EQ(keys.size(), workers);
    EXPECT_EQ(positions.size(), workers);
    EXPECT_EQ(t.ask("SELECT count(*) FROM queue WHERE state = 'ready'"), std::to_string(workers));
    EXPECT_EQ(
        expect(200, t.client.get("/v1/boards/" + t.place.board)).json().at("card_count"),
        static_cast<std::int64_t>(workers)
    );

    // Each event says what the answer said, under its own request.
    std::map<std::string, json::value> events;
    eventually([&] {
        const auto page = expect(
            200,
            t.workspace.client.get(
                "/v1/orgs/" + t.workspace.org_id + "/audit-events?page_size=100&action=create_card"
            )
        );
        const json::value entries = page.json();
        for (const auto& each : entries.at("results").as_array())
            events[std::string(each.at_pointer("/target/id").as_string())] = each;
        return events.size() >= workers;
    });
    for (const Reply& each : replies) {
        const auto& entry = events.at(each.text("/id"));
        EXPECT_EQ(entry.at("request_id").as_string(), each.header("x-request-id"));
        EXPECT_EQ(entry.at_pointer("/target/name").as_string(), each.text("/title"));
        EXPECT_EQ(entry.at_pointer("/after/key").as_string(), each.text("/key"));
        EXPECT_EQ(entry.at_pointer("/after/queue/state").as_string(), "ready");
    }
    // In the order of their places.
    EXPECT_EQ(
        t.ask("SELECT count(*) FROM event_log e JOIN event_log l ON l.id > e.id "
              "JOIN cards c ON c.id = e.card_id JOIN cards d ON d.id = l.card_id "
              "WHERE e.kind = 'card.created' AND l.kind = 'card.created' "
              "AND e.xid = l.xid AND c.position >= d.position"),
        "0"
    );
}

TEST(ManyCreators, OfOneCallerTakeTwoRoundTripsAtMost) {
    Together t;
    for (int i = 0; i < 3; ++i) create(t.client, t.place);
    const auto trips = [&] {
        return metric_of(t.server, R"(request_round_trips_total{operation="create_card"})");
    };
    const auto before = trips();
    ASSERT_GT(before, 0);
    const auto replies = at_once(t.client, t.database, t.cards("Card"));
    for (const Reply& each : replies) EXPECT_EQ(each.status, 201);
    EXPECT_LE(trips() - before, 6) << "a trip for each group";
}

TEST(ManyCreators, WhatFailsForOneOfThoseServedTogetherFailsForNobodyElse) {
    Together t;
    refuse_poison(t.database);
    auto requests = t.cards("Card");
    requests[4].body.as_object()["title"] = "poison";
    requests[6].body.as_object()["column_id"] = t.place.board;  // no column
    requests[8].body.as_object()["labels"] = json::array{"new"};
    requests[9].body.as_object()["external_key"] = "ticket-9";
    requests.push_back(requests[9]);
    const auto replies = at_once(t.client, t.database, requests);
    std::map<int, int> statuses;
    for (const Reply& each : replies) ++statuses[each.status];
    EXPECT_EQ(replies[4].status, 500);
    EXPECT_EQ(replies[6].status, 422);
    EXPECT_EQ(statuses, (std::map<int, int>{{201, 10}, {409, 1}, {422, 1}, {500, 1}}));
    EXPECT_EQ(t.ask("SELECT count(*) FROM cards"), "10");
    EXPECT_EQ(t.ask("SELECT count(DISTINCT title) FROM cards"), "10");
}

TEST(ManyCreators, WhatFailsAtASecondAttemptFailsForNobodyElse) {
    Together t;
    refuse_poison(t.database);
    // Below where cards come by the time: their place is looked for by what a first attempt finds.
    create(t.client, t.place);
    t.ask("UPDATE cards SET position = 'y0000000'");
    auto requests = t.cards("Card");
    requests[4].body.as_object()["title"] = "poison";
    const auto replies = at_once(t.client, t.database, requests);
    for (std::size_t i = 0; i < workers; ++i) EXPECT_EQ(replies[i].status, i == 4 ? 500 : 201);
    EXPECT_EQ(t.ask("SELECT count(*) FROM cards"), std::to_string(workers));
}

TEST(ManyCreators, ServedTogetherFillAColumnToItsLimitAndTheRestAreTold) {
    Together t;
    t.place.column = t.column(R"({"name": "Few", "wip_limit": 5, "wip_policy": "hard"})");
    std::map<int, int> statuses;
    for (const Reply& each : at_once(t.client, t.database, t.cards("Card"))) {
        ++statuses[each.status];
        if (each.status == 409) EXPECT_EQ(each.text("/code"), "wip_limit_reached");
    }
    EXPECT_EQ(statuses, (std::map<int, int>{{201, 5}, {409, static_cast<int>(workers) - 5}}));
    EXPECT_EQ(t.ask("SELECT count(*) FROM cards"), "5");
}

TEST(ManyCreators, WhereACardHasToHaveValuesEachIsToldSo) {
    Together t;
    expect(
        201,
        t.workspace.client.post(
            "/v1/boards/" + t.place.board + "/properties",
            R"({"name": "Reason", "type": "rich_text", "required": true})"
        )
    );
    for (const Reply& each : at_once(t.client, t.database, t.cards("Card")))
        EXPECT_EQ(each.status, 422) << each.body;
    EXPECT_EQ(t.ask("SELECT count(*) FROM cards"), "0");
}

TEST(ManyCreators, WhoseAnswerIsLostAreToldSoAndMadeOnce) {
    const std::string database = Postgres::shared().fresh_database();
    PostgresProxy proxy(database);
    Together t(database, proxy.url());
    for (int i = 0; i < 3; ++i) create(t.client, t.place);
    // The server asks for other things besides: the request that is cut is a group's now and then.
    std::size_t lost_together = 0;
    for (int round = 0; round < 30 && lost_together < 2; ++round) {
        const auto requests = t.cards("Round " + std::to_string(round) + " card");
        proxy.plan(PostgresProxy::Fault::cut_after, 1 + round % 6);
        const auto replies = at_once(t.client, database, requests);
        std::size_t lost = 0;
        for (std::size_t i = 0; i < workers; ++i) {
            const auto made = std::stoi(
                t.ask("SELECT count(*) FROM cards WHERE title = '" + title_of(requests[i]) + "'")
            );
            if (replies[i].status == 201) EXPECT_EQ(made, 1);
            else EXPECT_EQ(replies[i].status, 503) << replies[i].body;
            EXPECT_LE(made, 1) << title_of(requests[i]) << " was made twice";
            lost += replies[i].status == 503;
        }
        lost_together = std::max(lost_together, lost);
    }
    EXPECT_GE(lost_together, 2U) << "no group was hit";
}

}  // namespace svc::test

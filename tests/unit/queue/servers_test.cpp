// Several servers on one database, and servers that are killed in the middle of a claim or of a
// completion. WORKBOARD_QUEUE_CARDS and WORKBOARD_QUEUE_KILLS make it longer.

#include "tests/support/eventually.hpp"
#include "tests/unit/queue/queue_fixture.hpp"

#include <gtest/gtest.h>

#include <libpq-fe.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <thread>

namespace svc::test {

namespace {

using namespace std::chrono_literals;

int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : otherwise;
}

std::string ask(const QueueFixture& fixture, const std::string& sql) {
    return Postgres::shared().run(sql, fixture.database);
}

/// Cards by one request for a hundred.
void add_cards(QueueFixture& fixture, int count) {
    for (int made = 0; made < count;) {
        json::array operations;
        for (; operations.size() < 100 && made < count; ++made)
            operations.push_back(json::object{
                {"create",
                 {{"board_id", fixture.board},
                  {"column_id", fixture.queue},
                  {"title", "Card " + std::to_string(made)}}}
            });
        expect(200, fixture.post("/v1/cards:batch", {{"operations", operations}}));
    }
}

/// Claims and completes until there is nothing more. Every third asks for several, and every fifth
/// first gives its card back.
void work(Client client, const QueueFixture& fixture, int number, std::atomic<int>& completed) {
    for (int round = number; true; ++round) {
        const json::value wish{{"max_cards", round % 3 == 0 ? 3 : 1}};
        const auto claim = expect(200, client.post(fixture.claim_path(), json::serialize(wish)));
        const json::value got = claim.json();
        if (!got.at("claimed").as_bool()) return;
        json::array leases;
        leases.push_back(json::object{{"lease_token", got.at("lease_token")}});
        for (const json::value& each : got.at("additional_claims").as_array())
            leases.push_back(json::object{{"lease_token", each.at("lease_token")}});
        if (round % 5 == 0 && leases.size() == 1) {
            const auto path = "/v1/leases/" + claim.text("/lease/id") + ":release";
            expect(200, client.post(path, json::serialize(leases[0])));
            continue;
        }
        const auto done = expect(
            200,
            client.post("/v1/leases:complete", json::serialize(json::value{{"leases", leases}}))
        );
        completed += static_cast<int>(done.json().at("succeeded_count").as_int64());
    }
}

/// What no crash and no race may leave behind.
void expect_order(const QueueFixture& fixture, int cards) {
    EXPECT_EQ(
        ask(fixture, "SELECT count(*) FROM cards WHERE completed_at IS NOT NULL"),
        std::to_string(cards)
    );
    EXPECT_EQ(ask(fixture, "SELECT count(*) FROM queue WHERE state <> 'idle'"), "0");
    EXPECT_EQ(
        ask(fixture,
            "SELECT count(*) FROM (SELECT card_id FROM lease_outcomes WHERE state = 'completed' "
            "GROUP BY card_id HAVING count(*) > 1) twice"),
        "0"
    ) << "a card was completed twice";
    EXPECT_EQ(
        ask(fixture,
            "SELECT count(*) FROM (SELECT card_id, epoch FROM lease_outcomes GROUP BY card_id, "
            "epoch HAVING count(*) > 1) twice"),
        "0"
    ) << "a fence was given twice";
    const std::string completed =
        "SELECT count(*) || ' of ' || count(DISTINCT card_id) FROM events WHERE kind = "
        "'lease.completed'";
    const std::string each_once = std::to_string(cards) + " of " + std::to_string(cards);
    EXPECT_TRUE(eventually([&] { return ask(fixture, completed) == each_once; }))
        << ask(fixture, completed);
    EXPECT_EQ(
        ask(fixture,
            "SELECT count(*) FROM (SELECT kind = 'lease.claimed' AS claimed, lag(kind = "
            "'lease.claimed') OVER (PARTITION BY card_id ORDER BY sequence) AS before FROM events "
            "WHERE object = 'lease') e WHERE claimed IS NOT DISTINCT FROM before"),
        "0"
    ) << "a card was claimed again before its lease was over";
    EXPECT_EQ(
        ask(fixture, "SELECT count(*) FROM events WHERE kind = 'lease.claimed'"),
        ask(fixture, "SELECT count(*) FROM lease_outcomes")
    ) << "each claim ended, and the record says so";
}

}  // namespace

TEST(Servers, WorkersOfThreeServersDoEachCardOnce) {
    const int cards = number_from("WORKBOARD_QUEUE_CARDS", 300);
    const int workers = cards >= 2000 ? 50 : 18;
    QueueFixture fixture;
    Server second({.database_url = fixture.database}), third({.database_url = fixture.database});
    add_cards(fixture, cards);
    const std::string token = fixture.workspace.mint("agent", "Other");
    std::atomic<int> completed{0};
    std::vector<std::thread> threads;
    Server* const servers[] = {&fixture.server, &second, &third};
    for (int each = 0; each < workers; ++each) {
        Client client = servers[each % 3]->client();
        client.token(token);
        threads.emplace_back([&, client, each] { work(client, fixture, each, completed); });
    }
    for (auto& each : threads) each.join();
    std::atomic<int> rest{0};
    work(fixture.client, fixture, 1, rest);  // what was given back behind the last look
    EXPECT_EQ(completed + rest, cards);
    expect_order(fixture, cards);
}

// ------------------------------------------------------------------------------- kill -9

namespace {

/// Has the database stand still where a statement comes to a named point, until it is opened.
class Gate {
public:
    explicit Gate(const std::string& database)
        : url_(database),
          connection_(PQconnectdb(Postgres::shared().superuser_url(database).c_str())) {
        run("CREATE OR REPLACE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ "
            "BEGIN PERFORM pg_advisory_xact_lock_shared(471100); RETURN NEW; END $$");
        run("GRANT EXECUTE ON FUNCTION wait_at_gate TO PUBLIC");
    }
    ~Gate() { PQfinish(connection_); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    void close_at(const std::string& trigger) {
        run("SELECT pg_advisory_lock(471100)");
        run(trigger);
    }
    bool somebody_waits() const {
        return Postgres::shared().run(
                   "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND "
                   "objid = 471100 AND database = (SELECT oid FROM pg_database WHERE datname = "
                   "current_database())",
                   url_
               ) != "0";
    }
    void open(const std::string& table) {
        run("SELECT pg_advisory_unlock(471100)");
        run("DROP TRIGGER gate ON " + table);
    }

private:
    void run(const std::string& sql) {
        PGresult* result = PQexec(connection_, sql.c_str());
        const auto status = PQresultStatus(result);
        const std::string what = PQresultErrorMessage(result);
        PQclear(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(what);
    }
    const std::string url_;
    PGconn* connection_;
};

struct Point {
    const char* name;
    bool in_claim;
    const char* table;
    const char* trigger;
};
constexpr Point points[] = {
    {"before the row is leased",
     true,
     "queue",
     "CREATE TRIGGER gate BEFORE UPDATE ON queue FOR EACH ROW WHEN (NEW.state = 'leased' AND "
     "OLD.state = 'ready') EXECUTE FUNCTION wait_at_gate()"},
    {"at the commit of a claim",
     true,
     "queue",
     "CREATE CONSTRAINT TRIGGER gate AFTER UPDATE ON queue DEFERRABLE INITIALLY DEFERRED FOR EACH "
     "ROW WHEN (NEW.state = 'leased' AND OLD.state = 'ready') EXECUTE FUNCTION wait_at_gate()"},
    {"before a completed card is placed",
     false,
     "cards",
     "CREATE TRIGGER gate BEFORE UPDATE ON cards FOR EACH ROW WHEN (NEW.completed_at IS NOT NULL) "
     "EXECUTE FUNCTION wait_at_gate()"},
    {"before the row of a completed card is freed",
     false,
     "queue",
     "CREATE TRIGGER gate BEFORE UPDATE ON queue FOR EACH ROW WHEN (OLD.state = 'leased' AND "
     "NEW.state <> 'leased') EXECUTE FUNCTION wait_at_gate()"},
    {"before the outcome is kept",
     false,
     "lease_outcomes",
     "CREATE TRIGGER gate BEFORE INSERT ON lease_outcomes FOR EACH ROW EXECUTE FUNCTION "
     "wait_at_gate()"},
    {"at the commit of a completion",
     false,
     "lease_outcomes",
     "CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON lease_outcomes DEFERRABLE INITIALLY DEFERRED "
     "FOR EACH ROW EXECUTE FUNCTION wait_at_gate()"},
};

constexpr Point points_of_sequencing[] = {
    {"before an event is given its numbers",
     false,
     "event_chain",
     "CREATE TRIGGER gate BEFORE INSERT ON event_chain FOR EACH ROW EXECUTE FUNCTION "
     "wait_at_gate()"},
    {"before the last position is kept",
     false,
     "event_position",
     "CREATE TRIGGER gate BEFORE UPDATE ON event_position FOR EACH ROW EXECUTE FUNCTION "
     "wait_at_gate()"},
    {"at the commit of a batch of events",
     false,
     "event_chain",
     "CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON event_chain DEFERRABLE INITIALLY DEFERRED "
     "FOR EACH ROW EXECUTE FUNCTION wait_at_gate()"},
};

/// Sends without waiting for what is answered: there will be none.
void send_and_forget(
    QueueFixture& fixture, Connection& to, const std::string& path, const json::value& body
) {
    to.write(fixture.client.request(
        "POST", path, json::serialize(body), {{"Content-Type", "application/json"}}
    ));
}

/// What has been leased to nobody who knows of it comes back as what expires does.
void let_all_expire(const QueueFixture& fixture) {
    ask(fixture,
        "UPDATE queue SET expires_at = now() - interval '1 second' WHERE state = 'leased'");
    EXPECT_TRUE(eventually([&] {
        return ask(fixture, "SELECT count(*) FROM queue WHERE state = 'leased'") == "0";
    }));
}

}  // namespace

TEST(Servers, KilledAtAnyPointOfAClaimOrACompletionLoseNothingAndDoNothingTwice) {
    QueueFixture fixture({"queue.sweep_milliseconds=100"});
    expect(
        200,
        fixture.client.send(
            "PATCH",
            "/v1/boards/" + fixture.board + "/columns/" + fixture.queue,
            R"({"queue":{"backoff_seconds":0,"max_attempts":100}})"
        )
    );
    Gate gate(fixture.database);
    int cards = 0;
    for (int round = 0; round < number_from("WORKBOARD_QUEUE_KILLS", 1); ++round) {
        for (const Point& point : points) {
            SCOPED_TRACE(point.name);
            fixture.card();
            ++cards;
            const bool in_claim = point.in_claim;
            Reply claim;
            if (!in_claim) claim = fixture.claim();
            gate.close_at(point.trigger);
            {
                Connection connection(fixture.server.port(), 60s);
                if (in_claim) {
                    send_and_forget(fixture, connection, fixture.claim_path(), json::object());
                } else {
                    send_and_forget(
                        fixture,
                        connection,
                        "/v1/leases/" + claim.text("/lease/id") + ":complete",
                        {{"lease_token", claim.text("/lease_token")}}
                    );
                }
                ASSERT_TRUE(eventually([&] { return gate.somebody_waits(); }));
                fixture.server.end(SIGKILL);
            }
            gate.open(point.table);
            fixture.server.start();
            if (in_claim) {
                let_all_expire(fixture);
                claim = fixture.claim(10);
                ASSERT_TRUE(claim.json().at("claimed").as_bool());
            }
            // Whether or not it was committed, the holder who never heard of it may ask again.
            for (int again = 0; again < 2; ++again)
                expect(
                    200,
                    fixture.post(
                        "/v1/leases/" + claim.text("/lease/id") + ":complete",
                        {{"lease_token", claim.text("/lease_token")}}
                    )
                );
        }
    }
    expect_order(fixture, cards);
}

TEST(Servers, KilledAtAnyPointOfSequencingTellEachEventOnceAndInOrder) {
    QueueFixture fixture;
    Gate gate(fixture.database);
    int cards = 0;
    for (int round = 0; round < number_from("WORKBOARD_QUEUE_KILLS", 1); ++round) {
        for (const Point& point : points_of_sequencing) {
            SCOPED_TRACE(point.name);
            gate.close_at(point.trigger);
            fixture.card();
            ++cards;
            const auto claim = fixture.claim();
            expect(
                200,
                fixture.post(
                    "/v1/leases/" + claim.text("/lease/id") + ":complete",
                    {{"lease_token", claim.text("/lease_token")}}
                )
            );
            ASSERT_TRUE(eventually([&] { return gate.somebody_waits(); }));
            fixture.server.end(SIGKILL);
            gate.open(point.table);
            fixture.server.start();
        }
    }
    expect_order(fixture, cards);
    EXPECT_EQ(
        ask(fixture,
            "SELECT count(*) FROM (SELECT board_sequence - lag(board_sequence, 1, 0::bigint) OVER "
            "(PARTITION BY board_id ORDER BY sequence) AS step FROM events WHERE board_id IS NOT "
            "NULL) e WHERE step <> 1"),
        "0"
    ) << "a board's numbers have a gap, or are given twice";
}

}  // namespace svc::test

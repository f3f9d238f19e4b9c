#pragma once

#include "tests/api/interface.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/timing.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

/// What a request may cost, at the limits that are documented: bytes of its answer, and time of the
/// processors of server and database together. Lists are read off /openapi.json, so that one that
/// comes later is asked as well.
namespace svc::test {

inline constexpr std::size_t most_bytes = 2 << 20;
inline constexpr double most_seconds = 1.0;
inline constexpr int most_rewritten = 2'500;  // by one change of their column
// With the others just below the 10,000 that one request concerns.
inline constexpr int most_standing = 9'500;

struct Cost {
    Reply reply;
    double seconds = 0;
};

/// What PostgreSQL knows of the tables: nothing, as in the minute before autovacuum comes by, or
/// all. What a request costs hangs on neither.
enum class Statistics : std::uint8_t { none, fresh };

class Budgets : public testing::TestWithParam<Statistics> {
protected:
    /// One world for all: it takes a while to fill.
    struct Place {
        std::string database = Postgres::shared().fresh_database();
        Server server{{.database_url = database}};
        Workspace workspace = make_workspace(server);
        Client client = server.client();
        std::string board, full, other, heavy, card, block, agent, webhook, label, notes;

        explicit Place(Statistics statistics) {
            run("DO $$ DECLARE one regclass; BEGIN FOR one IN SELECT oid FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP"
                " EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', one);"
                " END LOOP; END $$");
            client.token(workspace.mint("integration", "Prober"));
            Client& by = workspace.client;
            const Reply made = expect(201, by.post("/v1/boards", json::value{{"name", "Big"}}));
            board = made.text("/id");
            full = made.text("/column_ids/0");
            other = made.text("/column_ids/1");
            heavy = made.text("/column_ids/2");
            label = expect(201, by.post(at("/labels"), json::value{{"name", "Label"}})).text("/id");
            notes = expect(
                        201,
                        by.post(
                            at("/properties"), json::value{{"name", "Notes"}, {"type", "rich_text"}}
                        )
            ).text("/id");
            card = expect(
                       201,
                       by.post(
                           at("/cards"),
                           json::value{{"column_id", heavy}, {"title", "One"}, {"markdown", "Text"}}
                       )
            ).text("/id");
            block = expect(200, by.get("/v1/blocks/" + card + "/children")).text("/results/0/id");
            agent = expect(
                        201,
                        by.post(
                            "/v1/tokens",
                            json::value{
                                {"kind", "agent"},
                                {"name", "Bot"},
                                {"role", "member"},
                                {"agent", {{"name", "Bot"}}}}
                        )
            ).text("/agent_id");
            webhook =
                expect(
                    201,
                    by.post(
                        "/v1/webhooks",
                        json::value{
                            {"url", "https://hooks.example.com/"}, {"events", {"webhook.test"}}}
                    )
                ).text("/id");
            fill();
            if (statistics == Statistics::fresh) run("ANALYZE");
        }
        std::string at(const std::string& rest) const { return "/v1/boards/" + board + rest; }
        std::string run(const std::string& sql) const {
            return Postgres::shared().run(sql, database);
        }

        std::string who() const {
            return R"('{"object":"user","id":")" + workspace.user_id +
                   R"(","principal_type":"user","name":"Ada"}'::jsonb)";
        }
        /// Cards with the label, numbered from `from` on, and with a value of so many characters.
        void add(const std::string& to, const std::string& column, int count, int from, int value)
            const {
            run("INSERT INTO cards (org_id, id, board_id, column_id, number, position, title,"
                " labels, properties, created_by, last_edited_by) SELECT '" +
                workspace.org_id + "', gen_random_uuid(), '" + to + "', '" + column +
                "', n, 'V' || lpad(n::text, 7, '0'), 'Card ' || n, '[{\"id\":\"" + label +
                "\",\"name\":\"Label\",\"color\":\"default\"}]', CASE WHEN " +
                std::to_string(value) +
                " = 0 THEN '{}'::jsonb ELSE jsonb_build_object('Notes', jsonb_build_object("
                "'id', '" +
                notes + "', 'type', 'rich_text', 'rich_text', repeat('x', " +
                std::to_string(value) + "))) END, " + who() + ", " + who() +
                " FROM generate_series(" + std::to_string(from) + ", " +
                std::to_string(from + count - 1) + ") n");
        }

        /// Nearly ten thousand cards in one column, each with the label; a hundred with all the
        /// values that a card may have, and as much of everything else that hangs on a card.
        void fill() {
            add(board, full, most_standing, 1'000, 0);
            add(board, heavy, 100, 100'000, 32'000);
            run("UPDATE board_counters SET last_number = 300000, card_count = " +
                std::to_string(most_standing + 101));
            run("INSERT INTO comments (org_id, id, card_id, discussion_id, rich_text, plain,"
                " created_by) SELECT '" +
                workspace.org_id + "', gen_random_uuid(), '" + card +
                "', gen_random_uuid(), json_build_array(json_build_object('type', 'text', 'text',"
                " json_build_object('content', repeat('y', 2000), 'link', null), 'annotations',"
                " json_build_object('bold', false, 'italic', false, 'strikethrough', false,"
                " 'underline', false, 'code', false, 'color', 'default'), 'plain_text',"
                " repeat('y', 30000), 'href', null)), repeat('yyyyyyyyy ', 3000), " +
                who() + " FROM generate_series(1, 100) n");
            run("INSERT INTO webhook_deliveries (org_id, webhook_id, id, event_id, position, kind,"
                " status, next_attempt_at, attempt_count, attempts, response_excerpt) SELECT '" +
                workspace.org_id + "', '" + webhook +
                "', gen_random_uuid(), gen_random_uuid(), n, 'card.moved', 'abandoned', NULL, 10,"
                " (SELECT json_agg(json_build_object('number', a, 'at', now(), 'status_code', 500,"
                " 'error', repeat('e', 200), 'duration_ms', 9)) FROM generate_series(1, 10) a),"
                " repeat('r', 1024) FROM generate_series(1, 200) n");
            run("INSERT INTO notification_inboxes (org_id, user_id) VALUES ('" + workspace.org_id +
                "', '" + workspace.user_id + "') ON CONFLICT DO NOTHING");
            run("INSERT INTO notifications (org_id, user_id, id, kind, epoch, subject_id,"
                " least_role, board_id, card_id, target_type, target_id, title, body, created_time)"
                " SELECT '" +
                workspace.org_id + "', '" + workspace.user_id +
                "', gen_random_uuid(), 'comment', 1, gen_random_uuid(), 'viewer', '" + board +
                "', '" + card + "', 'card', '" + card +
                "', repeat('t', 200), repeat('x', 2000), now() - n * interval '1 s'"
                " FROM generate_series(1, 5000) n");
            run("INSERT INTO card_versions (org_id, card_id, last_version, fields) SELECT '" +
                workspace.org_id + "', '" + card +
                "', -n, jsonb_build_object('title', 'T', 'labels', '[]'::jsonb, 'assignees',"
                " '[]'::jsonb, 'due', null, 'start', null, 'priority', 'none', 'estimate', null,"
                " 'properties', jsonb_build_object('Notes', repeat('x', 32000)),"
                " 'parent_card_id', null, 'external_key', null)"
                " FROM generate_series(1, 100) n");
            run("INSERT INTO event_log (org_id, entry_id, occurred_at, action, outcome, actor_type,"
                " actor_id, actor_name, via, object, object_id, card_id, kind, previous, changes,"
                " version, depth) SELECT '" +
                workspace.org_id +
                "', gen_random_uuid(), now() - n * interval '1 s', 'update_card', 'success',"
                " 'user', '" +
                workspace.user_id + "', 'Ada', 'api', 'card', '" + card + "', '" + card +
                "', 'card.updated', '{}', json_build_object('version', 50000 - n, 'title',"
                " repeat('z', 500))::text, 50000 - n, 0 FROM generate_series(40000, 1, -1) n");
        }
        /// Until what earlier requests left for later is done: it is not this one's.
        void settle() const {
            EXPECT_TRUE(eventually([&] {
                return run("SELECT (SELECT count(*) FROM card_rewrites) + (SELECT count(*) FROM"
                           " board_copies) + (SELECT count(*) FROM event_log) -"
                           " (SELECT count(*) FROM event_chain)") == "0";
            }));
        }
        Cost ask(
            Client& by,
            const std::string& method,
            const std::string& path,
            const std::string& body = ""
        ) {
            Cost cost;
            cost.seconds = server_time(server, [&] { cost.reply = by.send(method, path, body); });
            return cost;
        }
    };
    template <Statistics statistics>
    static Place& place_with() {
        static Place place{statistics};
        return place;
    }
    static Place& place() {
        return GetParam() == Statistics::none ? place_with<Statistics::none>()
                                              : place_with<Statistics::fresh>();
    }

    /// How much slower than a build without checks on a machine of its own this one is just now: by
    /// what a page of a hundred cards costs it. Never less than 1.
    static double slowness() {
        constexpr int rounds = 40;
        constexpr double usual = 0.012;  // seconds a page, in the development build
        const std::string page = "/v1/cards?page_size=100&column_id=" + place().full;
        place().ask(place().client, "GET", page);
        double sum = 0;
        for (int i = 0; i < rounds; ++i) sum += place().ask(place().client, "GET", page).seconds;
        return std::max(1.0, sum / rounds / usual);
    }

    static void changed(
        const std::string& what,
        const std::string& method,
        const std::string& path,
        const std::string& body,
        int status
    ) {
        place().settle();
        const Cost cost = place().ask(place().client, method, path, body);
        EXPECT_EQ(cost.reply.status, status) << what << ": " << cost.reply.body;
        expect_within(cost, what);
    }

    static void expect_within(const Cost& cost, const std::string& what) {
        EXPECT_LE(cost.reply.body.size(), most_bytes) << what;
        // What costs too much costs many times as much; one measurement, beside others on the same
        // processors, may be half as much again by itself.
        constexpr double chance = 1.5;
        const double factor = cost.seconds > most_seconds ? chance * slowness() : 1;
        EXPECT_LE(cost.seconds, most_seconds * factor) << what;
        if (cost.seconds > 0.3)
            std::printf(
                "%s: %.2f s, %zu bytes\n", what.c_str(), cost.seconds, cost.reply.body.size()
            );
    }
};

}  // namespace svc::test

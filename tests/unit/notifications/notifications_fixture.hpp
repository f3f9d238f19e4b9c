#pragma once

#include "tests/support/places.hpp"
#include "tests/support/program.hpp"
#include "tests/support/recurring_jobs.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

/// People who are told of what happens, on the real program: Ada, who owns the workspace, and Bob,
/// who is a member.
namespace svc::test {

using namespace std::chrono_literals;

class NotificationsTest : public AgentsTest {
protected:
    explicit NotificationsTest(std::vector<std::string> settings = {})
        : AgentsTest(std::move(settings)) {
        bob = member("bob@example.com", "member");
        ada_id = id_of(ada);
        bob_id = id_of(bob);
        ask("UPDATE users SET name = 'Bob' WHERE id = '" + bob_id + "' RETURNING id");
        const auto made = expect(201, ada.post("/v1/boards", json::value{{"name", "Desk"}}));
        board = made.text("/id");
        key = made.text("/key");
        const json::value body = made.json();
        for (const auto& each : body.at("column_ids").as_array())
            columns.emplace_back(each.as_string());
    }

    /// `workboard <words>` on the database of the server, as an operator runs it.
    Finished operate(std::vector<std::string> words) {
        words.insert(words.begin(), in_build("bin/workboard"));
        words.insert(
            words.end(), {"--database-url", database, "--var", (server.var() / "operator").string()}
        );
        return run(words);
    }

    static std::string id_of(Client& who) { return expect(200, who.get("/v1/me")).text("/id"); }

    std::string make_card(json::object what = {}, const std::string& on = "") {
        if (!what.contains("title")) what["title"] = "Fix it";
        if (!what.contains("column_id")) what["column_id"] = columns.at(0);
        const auto path = "/v1/boards/" + (on.empty() ? board : on) + "/cards";
        return expect(201, ada.post(path, json::value(what))).text("/id");
    }
    /// A private board of Ada's that Bob may see as long as his grant holds; its first column.
    struct Private {
        std::string board, column;
    };
    Private make_private(bool granted = true) {
        const auto made = expect(
            201, ada.post("/v1/boards", json::value{{"name", "Secret"}, {"visibility", "private"}})
        );
        Private out{made.text("/id"), std::string(made.json().at("column_ids").at(0).as_string())};
        if (granted) grant(out.board, bob_id);
        return out;
    }
    std::string grant_path(const std::string& of, const std::string& to) {
        return "/v1/boards/" + of + "/access-grants/" + to;
    }
    void grant(const std::string& on, const std::string& to) {
        const auto reply = send(ada, "PUT", grant_path(on, to), {{"role", "editor"}});
        if (reply.status / 100 != 2) throw std::runtime_error(reply.body);
    }
    void revoke(const std::string& on, const std::string& from) {
        expect(204, ada.send("DELETE", grant_path(on, from)));
    }
    static void watch(Client& who, const std::string& card) {
        const auto reply = who.send("PUT", "/v1/cards/" + card + "/watchers/me");
        if (reply.status / 100 != 2) throw std::runtime_error(reply.body);
    }
    static std::string comment(
        Client& by,
        const std::string& card,
        const std::string& text,
        const std::string& mention = ""
    ) {
        json::array words{{{"type", "text"}, {"text", {{"content", text}}}}};
        if (!mention.empty())
            words.push_back({{"type", "mention"}, {"mention", {{"user", {{"id", mention}}}}}});
        const json::value body{{"parent", {{"card_id", card}}}, {"rich_text", words}};
        return expect(201, by.post("/v1/comments", body)).text("/id");
    }
    Reply move(Client& by, const std::string& card, const std::string& column) {
        return expect(
            200, by.post("/v1/cards/" + card + ":move", json::value{{"column_id", column}})
        );
    }

    static json::array list(Client& of, const std::string& query = "") {
        return expect(200, of.get("/v1/notifications" + query)).json().at("results").as_array();
    }
    static std::int64_t count(Client& of) {
        return expect(200, of.get("/v1/notifications/count"))
            .json()
            .at("unread_count")
            .to_number<std::int64_t>();
    }
    /// The newest of this kind, once there is one; throws when there is none.
    static json::object comes(Client& to, const std::string& kind) {
        json::object found;
        const bool there = eventually([&] {
            for (const json::value& each : list(to))
                if (each.at("kind").as_string() == kind) return found = each.as_object(), true;
            return false;
        });
        if (!there) throw std::runtime_error("no notification of the kind " + kind);
        return found;
    }
    static std::size_t how_many(Client& of, const std::string& kind) {
        std::size_t many = 0;
        for (const json::value& each : list(of, "?page_size=100"))
            many += each.at("kind").as_string() == kind;
        return many;
    }
    /// All that has happened so far has been told.
    void settle() {
        ASSERT_TRUE(eventually([&] {
            return ask("SELECT (SELECT count(*) FROM event_log l WHERE l.kind IS NOT NULL AND NOT "
                       "EXISTS (SELECT FROM event_chain c WHERE c.log_id = l.id)) + "
                       "(SELECT max(c.position) FROM event_chain c) - "
                       "(SELECT position FROM event_consumers WHERE name = 'notifications') + "
                       "(SELECT count(*) FROM notification_work) <= 0") == "t";
        })) << ask("SELECT row_to_json(c) FROM event_consumers c WHERE name = 'notifications'")
            << ask("SELECT json_agg(w) FROM notification_work w");
    }
    Reply prefer(Client& of, json::value what) {
        return expect(200, send(of, "PATCH", "/v1/me/preferences", std::move(what)));
    }
    static std::string text(const json::object& in, std::string_view field) {
        return std::string(in.at(field).as_string());
    }

    Client bob = client();
    std::string ada_id, bob_id, board, key;
    std::vector<std::string> columns;
};

}  // namespace svc::test

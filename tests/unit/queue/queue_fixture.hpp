#pragma once

#include "tests/support/postgres.hpp"
#include "tests/support/reused_server.hpp"
#include "tests/support/workspace.hpp"

namespace svc::test {

namespace json = boost::json;

/// A server with a board that has a queue, and a client that works on it.
struct QueueFixture {
    ReusedServer reused;
    const std::string& database = reused.database();
    Server& server = reused.server();
    Workspace workspace = make_workspace(server);
    Client client = server.client();
    std::string board, queue, done;

    explicit QueueFixture(std::vector<std::string> settings = {}) : reused(std::move(settings)) {
        client.token(workspace.mint("agent", "Worker"));
        const auto made = expect(
            201,
            post(
                "/v1/boards",
                {{"name", "Shop"},
                 {"columns",
                  {{{"name", "Do"}, {"kind", "queue"}}, {{"name", "Done"}, {"kind", "done"}}}}}
            )
        );
        board = made.text("/id");
        queue = made.text("/column_ids/0");
        done = made.text("/column_ids/1");
    }
    Reply post(const std::string& path, const json::value& body) { return client.post(path, body); }
    Reply card(const std::string& title = "Card") {
        return expect(
            201, post("/v1/boards/" + board + "/cards", {{"column_id", queue}, {"title", title}})
        );
    }
    std::string claim_path() const {
        return "/v1/boards/" + board + "/columns/" + queue + ":claim-next";
    }
    Reply claim(int wait = 0) { return expect(200, post(claim_path(), {{"wait_seconds", wait}})); }
};

/// One for all tests of a program that get along with what the others leave in it.
inline QueueFixture& one_queue() {
    static QueueFixture here;
    return here;
}

}  // namespace svc::test

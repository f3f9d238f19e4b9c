#include "tests/soak/people.hpp"

#include <thread>

namespace svc::test {

namespace json = boost::json;

namespace {

using std::chrono::milliseconds;

std::string repeated(std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
}

/// To MCP, as a client of the protocol's revision 2025-03-26 speaks to it.
Reply to_mcp(Client& client, const json::value& message, const std::string& session) {
    Headers headers{
        {"Accept", "application/json, text/event-stream"}, {"MCP-Protocol-Version", "2025-03-26"}};
    if (!session.empty()) headers.emplace_back("Mcp-Session-Id", session);
    return client.send("POST", "/v1/mcp/http", json::serialize(message), headers);
}

std::string mcp_session(Client& client) {
    const json::value first{
        {"jsonrpc", "2.0"},
        {"id", 1},
        {"method", "initialize"},
        {"params",
         {{"protocolVersion", "2025-03-26"},
          {"capabilities", json::object{}},
          {"clientInfo", {{"name", "soak"}, {"version", "1"}}}}}};
    return expect(200, to_mcp(client, first, {})).header("mcp-session-id");
}

/// A batch of calls of one tool.
void batch_of(
    Client& client,
    const Prey& prey,
    const std::string& tool,
    const json::object& arguments,
    int count
) {
    json::array calls;
    for (int i = 0; i < count; ++i)
        calls.push_back(
            {{"jsonrpc", "2.0"},
             {"id", i + 1},
             {"method", "tools/call"},
             {"params", {{"name", tool}, {"arguments", arguments}}}}
        );
    to_mcp(client, calls, prey.session);
}

/// Sends bytes that are no whole request, lingers, and goes.
void linger(const Server& server, std::string_view bytes, milliseconds time) {
    Connection connection(server.port());
    connection.write(bytes);
    std::this_thread::sleep_for(time);
}

std::string card_of_limits(const std::string& column) {
    return json::serialize(json::value{
        {"column_id", column},
        {"title", repeated("card ", 50)},
        {"markdown", repeated("Some common words of the workspace stand here. ", 400)}});
}

}  // namespace

Prey fill_workspace(const Server& server, const std::string& email) {
    Prey prey{.workspace = make_workspace(server, email, "Harm")};
    const auto token = prey.workspace.mint("integration", "Harm");
    Client& client = prey.workspace.client;
    client = server.client();
    client.token(token);
    prey.session = mcp_session(client);
    const auto board = [&](const std::string& name) {
        return expect(
            201,
            client.post(
                "/v1/boards",
                json::value{
                    {"name", name},
                    {"columns", {{{"name", "A"}}, {{"name", "B"}, {"kind", "queue"}}}}}
            )
        );
    };
    const auto small = board("Small"), big = board("Big");
    prey.board = small.text("/id");
    prey.column = small.text("/column_ids/0");
    prey.queue = small.text("/column_ids/1");
    prey.big_board = big.text("/id");
    prey.big_column = big.text("/column_ids/0");
    for (int i = 0; i < 20; ++i) {
        json::array items;
        for (int k = 0; k < 50; ++k)
            items.push_back(json::value{
                {"create",
                 {{"board_id", prey.big_board},
                  {"column_id", prey.big_column},
                  {"title", repeated("common words ", 10) + std::to_string(i * 50 + k)}}}});
        expect(200, client.post("/v1/cards:batch", json::value{{"operations", items}}));
    }
    prey.card =
        expect(201, client.post("/v1/boards/" + prey.board + "/cards", card_of_limits(prey.column)))
            .text("/id");
    prey.big_card = expect(
                        201,
                        client.post(
                            "/v1/boards/" + prey.board + "/cards",
                            json::value{{"column_id", prey.column}, {"title", "Big"}}
                        )
    ).text("/id");
    std::string lines, reversed;
    for (int i = 0; i < 2000; ++i) {
        lines += "Line " + std::to_string(i) + "\n\n";
        reversed = "Line " + std::to_string(i) + "\n\n" + reversed;
    }
    prey.lines = json::serialize(json::value{{"mode", "replace"}, {"markdown", lines}});
    prey.reversed = json::serialize(json::value{{"mode", "replace"}, {"markdown", reversed}});
    prey.share_token =
        expect(201, client.post("/v1/boards/" + prey.big_board + "/share-links", "{}"))
            .text("/url");
    prey.share_token.erase(0, prey.share_token.rfind('/') + 1);
    return prey;
}

const std::vector<Harm>& ways_of_harm() {
    static const std::vector<Harm> ways{
        {"batches that hash passwords",
         [](const Server&, const Prey& prey, Client& client, int) {
             batch_of(
                 client,
                 prey,
                 "create_share_link",
                 {{"board_id", prey.board}, {"password", "correct horse battery"}},
                 15
             );
         }},
        {"batches of snapshots",
         [](const Server&, const Prey& prey, Client& client, int) {
             batch_of(
                 client,
                 prey,
                 "get_board_snapshot",
                 {{"board_id", prey.big_board}, {"page_size", 100}},
                 50
             );
         }},
        {"the shared board, by strangers who read slowly",
         [](const Server& server, const Prey& prey, Client&, int) {
             linger(
                 server,
                 "GET /v1/shared/" + prey.share_token +
                     "?page_size=100 HTTP/1.1\r\nHost: x\r\nX-Board-Version: 1\r\n\r\n",
                 milliseconds(500)
             );
         }},
        {"metrics of a large board",
         [](const Server&, const Prey& prey, Client& client, int) {
             client.get("/v1/boards/" + prey.big_board + "/metrics");
         }},
        {"a text replaced by itself reversed",
         [](const Server&, const Prey& prey, Client& client, int round) {
             client.send(
                 "PATCH",
                 "/v1/cards/" + prey.big_card + "/markdown",
                 round % 2 == 0 ? prey.lines : prey.reversed
             );
         }},
        {"claims that wait, with bodies of a megabyte",
         [](const Server& server, const Prey& prey, Client& client, int) {
             const auto body = R"({"wait_seconds":45)" + std::string(1'000'000, ' ') + "}";
             linger(
                 server,
                 client.request(
                     "POST",
                     "/v1/boards/" + prey.board + "/columns/" + prey.queue + ":claim-next",
                     body
                 ),
                 milliseconds(2000)
             );
         }},
        {"copies of boards",
         [](const Server&, const Prey& prey, Client& client, int) {
             const auto copy = client.post("/v1/boards/" + prey.board + ":duplicate");
             if (copy.status == 201) client.send("DELETE", "/v1/boards/" + copy.text("/id"));
         }},
        {"searches for what is everywhere",
         [](const Server&, const Prey&, Client& client, int) {
             client.post("/v1/search", R"({"query":"common words","page_size":100})");
         }},
        {"queues switched on and off",
         [](const Server&, const Prey& prey, Client& client, int round) {
             client.send(
                 "PATCH",
                 "/v1/boards/" + prey.big_board + "/columns/" + prey.big_column,
                 round % 2 == 0 ? R"({"queue":{"enabled":false}})" : R"({"queue":{"enabled":true}})"
             );
         }},
        {"log-ins with wrong passwords",
         [](const Server& server, const Prey&, Client&, int round) {
             Client stranger = server.client();
             stranger.post(
                 "/v1/auth/login",
                 R"({"email":"nobody)" + std::to_string(round % 50) +
                     R"(@example.com","password":"not the one it is"})"
             );
         }},
        {"heads that never end",
         [](const Server& server, const Prey&, Client&, int) {
             linger(server, "GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: ", milliseconds(1000));
         }},
        {"what is no request at all",
         [](const Server& server, const Prey&, Client&, int round) {
             linger(
                 server,
                 round % 2 == 0 ? "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"
                                : "POST /v1/boards HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\nhello",
                 milliseconds(20)
             );
         }},
        {"cards written at their limits and deleted",
         [](const Server&, const Prey& prey, Client& client, int) {
             const auto made =
                 client.post("/v1/boards/" + prey.board + "/cards", card_of_limits(prey.column));
             if (made.status == 201) client.send("DELETE", "/v1/cards/" + made.text("/id"));
         }},
        {"the whole reference, again and again",
         [](const Server& server, const Prey&, Client&, int) {
             linger(server, "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", milliseconds(300));
         }},
    };
    return ways;
}

}  // namespace svc::test

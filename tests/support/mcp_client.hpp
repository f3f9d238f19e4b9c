#pragma once

#include "tests/support/postgres.hpp"
#include "tests/support/refusals.hpp"
#include "tests/support/reused_server.hpp"
#include "tests/support/workspace.hpp"

#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// The MCP endpoint of the real program, message by message.
namespace svc::test {

namespace json = boost::json;

inline const Headers json_headers{
    {"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};

/// A token's view of the endpoint.
class McpClient {
public:
    McpClient(std::uint16_t port, std::string_view token) : client(port) { client.token(token); }

    /// Sends a body as it is; the session goes along when there is one.
    Reply post(std::string_view body, const Headers& more = {}) {
        Headers headers = json_headers;
        if (!session.empty()) headers.emplace_back("Mcp-Session-Id", session);
        for (const auto& each : more) {
            std::erase_if(headers, [&](const auto& old) { return old.first == each.first; });
            headers.push_back(each);
        }
        return client.send("POST", "/v1/mcp/http", body, headers);
    }
    Reply request(
        std::string_view method,
        const json::value& params = json::object{},
        const Headers& more = {}
    ) {
        const json::value message{
            {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
        return post(json::serialize(message), more);
    }
    /// Opens a session and keeps it.
    Reply initialize(std::string_view version = "2025-11-25") {
        session.clear();
        Reply reply = request(
            "initialize",
            {{"protocolVersion", version},
             {"capabilities", json::object{}},
             {"clientInfo", {{"name", "test"}, {"version", "1"}}}}
        );
        session = reply.header("mcp-session-id");
        return reply;
    }
    Reply call(std::string_view tool, const json::value& arguments, const Headers& more = {}) {
        Reply reply = request("tools/call", {{"name", tool}, {"arguments", arguments}}, more);
        note_refusal_in(tool, reply);
        return reply;
    }
    std::vector<std::string> tool_names(const Headers& more = {}) {
        std::vector<std::string> names;
        const auto answer = request("tools/list", json::object{}, more).json();
        for (const auto& tool : answer.at("result").at("tools").as_array())
            names.emplace_back(tool.at("name").as_string());
        return names;
    }

    /// What opens the session's stream, from the event with the id `last` on.
    std::string stream_request(const std::string& last = {}) const {
        Headers headers{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}};
        if (!last.empty()) headers.emplace_back("Last-Event-ID", last);
        return client.request("GET", "/v1/mcp/http", {}, headers);
    }

    Client client;
    std::string session;

private:
    static void note_refusal_in(std::string_view tool, const Reply& reply) {
        json::error_code none;
        const auto answer = json::parse(reply.body, none);
        if (const auto* text = answer.find_pointer("/result/content/0/text", none))
            if (text->is_string()) note_refusal(tool, text->get_string());
    }
};

/// A connection on which a stream may come: sends the request and reads on until `enough`.
class RawStream {
public:
    RawStream(std::uint16_t port, std::string_view request) : connection_(port) {
        connection_.write(request);
    }
    /// For half a minute at most: comments keep a quiet stream open.
    template <class Enough>
    const std::string& read_until(Enough enough) {
        const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        std::string bytes(4096, '\0');
        while (!enough(seen_) && std::chrono::steady_clock::now() < last) {
            const auto size = ::recv(connection_.fd(), bytes.data(), bytes.size(), 0);
            if (size <= 0) break;
            seen_.append(bytes, 0, static_cast<std::size_t>(size));
        }
        return seen_;
    }
    /// True when the server closes it, whatever it has to say before.
    bool ends() { return read_to_the_end(0) == 0; }
    /// True as long as the server has not closed it; does not wait.
    bool is_open() { return read_to_the_end(MSG_DONTWAIT) != 0; }

private:
    /// 0 at the end; less when there is nothing to read.
    ssize_t read_to_the_end(int flags) {
        char rest[256];
        ssize_t size;
        do {
            size = ::recv(connection_.fd(), rest, sizeof rest, flags);
        } while (size > 0);
        return size;
    }

    Connection connection_;
    std::string seen_;
};

/// A server with one workspace, a person's and an agent's token in it.
class McpTest : public testing::Test {
protected:
    McpTest()
        : workspace(make_workspace(server)), mcp(server.port(), workspace.mint("agent", "Robot")) {}

    struct Queue {
        std::string board_id, column_id;
        json::value target() const { return {{"board_id", board_id}, {"column_id", column_id}}; }
    };
    Queue make_queue() {
        Queue queue;
        queue.board_id = expect(
                             201, workspace.client.post("/v1/boards", json::value{{"name", "Work"}})
        ).text("/id");
        const json::value column{
            {"name", "To do"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}};
        queue.column_id =
            expect(201, workspace.client.post("/v1/boards/" + queue.board_id + "/columns", column))
                .text("/id");
        return queue;
    }
    void add_card(const Queue& queue, std::string_view title) {
        const json::value card{{"column_id", queue.column_id}, {"title", title}};
        expect(201, workspace.client.post("/v1/boards/" + queue.board_id + "/cards", card));
    }

    ReusedServer reused;
    const std::string& database = reused.database();
    Server& server = reused.server();
    Workspace workspace;
    McpClient mcp;
};

/// What a tool refused by: an error's body.
inline json::value refusal_in(const Reply& reply) {
    const auto result = reply.json().at("result");
    EXPECT_EQ(result.at("isError"), true) << reply.body;
    return json::parse(std::string_view(result.at("content").at(0).at("text").as_string()));
}

/// The code of a JSON-RPC error; 0 when the answer is none.
inline std::int64_t error_code(const Reply& reply) {
    const auto body = reply.json();
    const auto* error = body.as_object().if_contains("error");
    return error ? error->at("code").as_int64() : 0;
}

}  // namespace svc::test

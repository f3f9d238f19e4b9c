#pragma once

#include "modules/live/lib/websocket.hpp"
#include "svc/types.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/reused_server.hpp"
#include "tests/support/workspace.hpp"
#include "tests/unit/http/client.hpp"

#include <gtest/gtest.h>

#include <set>

/// Servers with boards, and clients that follow what happens there.
namespace svc::test {

namespace json = boost::json;
using namespace std::chrono_literals;

/// What a client's frame looks like on the wire. Parts can be wrong on purpose.
struct ClientFrame {
    live::Opcode opcode = live::Opcode::text;
    std::string payload;
    bool last = true, masked = true;
    std::uint8_t reserved = 0;

    std::string bytes() const {
        std::string out;
        out += static_cast<char>((last ? 0x80 : 0) | reserved | static_cast<int>(opcode));
        const int mask_bit = masked ? 0x80 : 0;
        if (payload.size() < 126)
            out += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
        else if (payload.size() <= 0xFFFF) {
            out += static_cast<char>(mask_bit | 126);
            append(payload.size(), 2, out);
        } else {
            out += static_cast<char>(mask_bit | 127);
            append(payload.size(), 8, out);
        }
        if (!masked) return out + payload;
        const std::string mask = "\x12\x34\x56\x78";
        out += mask;
        for (std::size_t i = 0; i < payload.size(); ++i)
            out += static_cast<char>(payload[i] ^ mask[i % mask.size()]);
        return out;
    }

    static void append(std::uint64_t value, int bytes, std::string& out) {
        while (bytes-- > 0) out += static_cast<char>(value >> (8 * bytes));
    }
};

/// A frame of the server's.
struct ServerFrame {
    live::Opcode opcode{};
    std::string payload;
    json::value json() const { return json::parse(payload); }
    int close_code() const {
        return payload.size() < 2 ? 0
                                  : static_cast<std::uint8_t>(payload[0]) << 8 |
                                        static_cast<std::uint8_t>(payload[1]);
    }
};

/// A WebSocket client on a raw socket. Its waits are bounded.
class WsClient {
public:
    WsClient(std::uint16_t port, const std::string& token, int receive_buffer = 0)
        : WsClient(port, "/v1/ws", "Authorization: Bearer " + token + "\r\n", receive_buffer) {}
    WsClient(
        std::uint16_t port,
        std::string_view target,
        const std::string& headers,
        int receive_buffer = 0
    )
        : client_(port, receive_buffer) {
        client_.send(http::test::get(
            target,
            "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                headers
        ));
        const auto reply = client_.read_reply();
        if (reply) head = *reply;
    }

    http::test::Reply head;

    bool send(const ClientFrame& frame) { return client_.send(frame.bytes()); }
    bool send_bytes(std::string_view bytes) { return client_.send(bytes); }
    bool say(const json::value& message) {
        return send({live::Opcode::text, json::serialize(message)});
    }

    /// The next frame; nothing when the server closes or the time is over.
    std::optional<ServerFrame> next(std::chrono::milliseconds patience = 10s) {
        const auto end = std::chrono::steady_clock::now() + patience;
        for (;;) {
            if (auto frame = take()) return frame;
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                end - std::chrono::steady_clock::now()
            );
            if (left.count() <= 0 || !client_.receive(left)) return std::nullopt;
        }
    }
    /// The next message of this type, others passed over (pings too).
    json::value next_of(std::string_view type, std::chrono::milliseconds patience = 10s) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (std::chrono::steady_clock::now() < end) {
            const auto frame = next(patience);
            if (!frame) break;
            if (frame->opcode != live::Opcode::text) {
                if (frame->opcode == live::Opcode::close) break;
                continue;
            }
            auto message = frame->json();
            if (message.at("type").as_string() == type) return message;
            if (type != "error" && message.at("type").as_string() == "error")
                throw std::runtime_error(frame->payload);
        }
        throw std::runtime_error("no message of type " + std::string(type));
    }
    /// The code of the close frame with which the server ends; 0 when it ends without.
    int close_code(std::chrono::milliseconds patience = 10s) {
        while (const auto frame = next(patience))
            if (frame->opcode == live::Opcode::close) return frame->close_code();
        return 0;
    }
    json::value subscribe(
        const std::string& id,
        const std::optional<std::string>& board = std::nullopt,
        std::optional<std::int64_t> after = std::nullopt,
        const json::array& kinds = {}
    ) {
        json::object message{{"type", "subscribe"}, {"id", id}};
        if (board) message["board_id"] = *board;
        if (after) message["after"] = *after;
        if (!kinds.empty()) message["kinds"] = kinds;
        say(message);
        return next_of("subscribed");
    }
    http::test::Client& raw() { return client_; }

private:
    std::optional<ServerFrame> take() {
        std::string& seen = client_.unread();
        if (seen.size() < 2) return std::nullopt;
        std::size_t at = 2;
        std::uint64_t size = static_cast<std::uint8_t>(seen[1]) & 0x7F;
        const int more = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (seen.size() < at + static_cast<std::size_t>(more)) return std::nullopt;
        if (more > 0) size = 0;
        for (int i = 0; i < more; ++i) size = size << 8 | static_cast<std::uint8_t>(seen[at++]);
        if (seen.size() < at + size) return std::nullopt;
        ServerFrame frame{
            live::Opcode{static_cast<std::uint8_t>(seen[0] & 0x0F)}, seen.substr(at, size)};
        seen.erase(0, at + size);
        return frame;
    }

    http::test::Client client_;
};

/// One event as SSE has it.
struct SseEvent {
    std::string id, event, data;
    json::value json() const { return json::parse(data); }
};

/// An EventSource on a raw socket.
class SseClient {
public:
    SseClient(std::uint16_t port, const std::string& token, const std::string& query = "")
        : SseClient(port, "/v1/sse" + query, "Authorization: Bearer " + token + "\r\n", 0) {}
    SseClient(
        std::uint16_t port,
        const std::string& target,
        const std::string& headers,
        int receive_buffer
    )
        : client_(port, receive_buffer) {
        client_.send(http::test::get(target, headers));
        if (const auto reply = client_.read_reply()) head = *reply;
    }

    http::test::Reply head;

    /// The next event that has data, or, when `any`, an id alone.
    std::optional<SseEvent> next(std::chrono::milliseconds patience = 10s, bool any = false) {
        const auto end = std::chrono::steady_clock::now() + patience;
        for (;;) {
            std::string& seen = client_.unread();
            for (auto gap = seen.find("\n\n"); gap != seen.npos; gap = seen.find("\n\n")) {
                const auto event = parse(seen.substr(0, gap + 1));
                seen.erase(0, gap + 2);
                if (!event.id.empty()) last_id = event.id;
                if (!event.data.empty() || (any && !event.id.empty())) return event;
            }
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                end - std::chrono::steady_clock::now()
            );
            if (left.count() <= 0 || !client_.receive(left)) return std::nullopt;
        }
    }
    /// Waits until it misses nothing any more.
    bool is_attached() { return next(10s, true).has_value(); }
    bool ends(std::chrono::milliseconds patience = 10s) {
        return client_.is_closed_within(patience);
    }
    http::test::Client& raw() { return client_; }

    std::string last_id;

private:
    static SseEvent parse(const std::string& text) {
        SseEvent event;
        std::size_t at = 0;
        while (at < text.size()) {
            const auto end = text.find('\n', at);
            const std::string line = text.substr(at, end - at);
            at = end + 1;
            if (line.starts_with("id: ")) event.id = line.substr(4);
            else if (line.starts_with("event: ")) event.event = line.substr(7);
            else if (line.starts_with("data: ")) event.data += line.substr(6);
        }
        return event;
    }

    http::test::Client client_;
};

/// A workspace whose owner works by a token, with a board. The board's own events have their
/// sequences already, so a subscription that starts now does not get them.
class LiveTest : public testing::Test {
protected:
    explicit LiveTest(std::vector<std::string> settings = {})
        : reused_(with_few_modules(std::move(settings))),
          workspace(make_workspace(server)),
          client(workspace.client),
          token(make_token("admin")) {
        board = make_board("Shop");
        last_sequence();
    }

    static std::vector<std::string> with_few_modules(std::vector<std::string> settings) {
        settings.emplace_back("plugins=mail-file,store-local,bus-postgres");
        settings.emplace_back("modules=mail,orgs,auth,agents,boards,files,content,queue,live");
        return settings;
    }
    std::string make_board(const std::string& name, const std::string& visibility = "org") {
        return expect(
                   201,
                   client.post(
                       "/v1/boards", json::value{{"name", name}, {"visibility", visibility}}
                   )
        ).text("/id");
    }
    std::string ask(std::string_view sql) { return Postgres::shared().run(sql, database); }
    /// The sequence of the last event, once all that was done so far has one: under load that takes
    /// a while, and whoever follows from now on would still hear of it.
    std::string last_sequence() {
        reused_.await_sequences();
        return ask("SELECT sequence FROM event_heads WHERE org_id = '" + workspace.org_id + "'");
    }
    /// An integration's token of the owner, with this role.
    std::string make_token(const std::string& role) {
        const json::value wanted{{"kind", "integration"}, {"name", "Page"}, {"role", role}};
        return expect(201, client.post("/v1/tokens", wanted)).text("/token");
    }
    std::string column_of(const std::string& of) {
        return expect(200, client.get("/v1/boards/" + of)).text("/column_ids/0");
    }
    std::string make_card(const std::string& title) { return make_card(title, board); }
    std::string make_card(const std::string& title, const std::string& on) {
        if (!columns.contains(on)) columns[on] = column_of(on);
        return expect(
                   201,
                   client.post(
                       "/v1/boards/" + on + "/cards",
                       json::value{{"column_id", columns[on]}, {"title", title}}
                   )
        ).text("/id");
    }
    /// An agent of the workspace, and a token of it.
    struct Agent {
        std::string id, token;
    };
    Agent make_agent(const std::string& name, const std::string& role = "member") {
        const auto id =
            expect(
                201, client.post("/v1/agents", json::value{{"name", name}, {"role", role}})
            ).text("/id");
        const auto made = expect(
            201,
            client.post(
                "/v1/tokens",
                json::value{{"kind", "agent"}, {"name", name}, {"role", role}, {"agent_id", id}}
            )
        );
        return {id, made.text("/token")};
    }
    Reply grant(
        const std::string& principal, const std::string& on, const std::string& role = "viewer"
    ) {
        return client.send(
            "PUT",
            "/v1/boards/" + on + "/access-grants/" + principal,
            json::serialize(json::value{{"role", role}})
        );
    }

private:
    ReusedServer reused_;

protected:
    const std::string& database = reused_.database();
    Server& server = reused_.server();
    Workspace workspace;
    Client client;
    std::string token, board;
    std::map<std::string, std::string> columns;
};

}  // namespace svc::test

#include "tests/support/letters.hpp"
#include "tests/unit/live/live_fixture.hpp"

/// `GET /v1/ws`.
namespace svc::test {

namespace {

class WebSocketStreams : public LiveTest {
protected:
    std::unique_ptr<WsClient> connect(const std::string& by = "") {
        auto made = std::make_unique<WsClient>(server.port(), by.empty() ? token : by);
        EXPECT_EQ(made->head.status, 101) << made->head.status_line;
        EXPECT_EQ(made->next_of("ready").at("org_id").as_string(), workspace.org_id);
        return made;
    }
    static std::string card_in(const json::value& message) {
        return std::string(message.at("event").at("data").at("id").as_string());
    }
    /// Of how many created cards the record tells: streams have no others.
    std::string cards_in_order() {
        return ask("SELECT count(*) FROM events WHERE kind = 'card.created'");
    }
    /// Bearer, as every request of ours has it.
    std::string bearer() const { return "Authorization: Bearer " + token + "\r\n"; }
    std::string cookies() {
        return "Cookie: svc_session=" + workspace.client.cookie("svc_session") + "\r\n";
    }
};

TEST_F(WebSocketStreams, ASubscriptionGetsWhatPassesItsFilterUnderItsName) {
    auto ws = connect();
    EXPECT_EQ(ws->head.header("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const auto attached = ws->subscribe("cards", board, std::nullopt, {"card.*"});
    EXPECT_TRUE(attached.at("recovered").as_bool());
    ws->subscribe("columns", board, std::nullopt, {"column.created"});
    const auto card = make_card("New");
    const auto event = ws->next_of("event");
    EXPECT_EQ(event.at("id").as_string(), "cards");
    EXPECT_EQ(card_in(event), card);
    EXPECT_GT(event.at("event").at("sequence").as_int64(), attached.at("sequence").as_int64());
    expect(201, client.post("/v1/boards/" + board + "/columns", json::value{{"name", "New"}}));
    const auto column = ws->next_of("event");
    EXPECT_EQ(column.at("id").as_string(), "columns");
    EXPECT_EQ(column.at("event").at("kind").as_string(), "column.created");
}

TEST_F(WebSocketStreams, GoesOnAfterASequenceAndThenLive) {
    std::vector<std::string> made;
    for (int i = 0; i < 30; ++i) made.push_back(make_card("Card"));
    ASSERT_TRUE(eventually([&] { return cards_in_order() == "30"; }));
    auto ws = connect();
    ws->say({{"type", "subscribe"}, {"id", "s"}, {"after", 0}, {"kinds", {"card.created"}}});
    for (const std::string& each : made) EXPECT_EQ(card_in(ws->next_of("event")), each);
    EXPECT_TRUE(ws->next_of("subscribed").at("recovered").as_bool());
    const auto card = make_card("Live");
    EXPECT_EQ(card_in(ws->next_of("event")), card);
}

TEST_F(WebSocketStreams, ASequenceThatWasNeverGivenIsAGap) {
    make_card("One");
    ASSERT_TRUE(eventually([&] { return cards_in_order() == "1"; }));
    auto ws = connect();
    ws->say({{"type", "subscribe"}, {"id", "s"}, {"after", 1'000'000}});
    EXPECT_EQ(ws->next_of("gap").at("id").as_string(), "s");
    EXPECT_FALSE(ws->next_of("subscribed").at("recovered").as_bool());
    const auto card = make_card("Live");
    EXPECT_EQ(card_in(ws->next_of("event")), card);
}

TEST_F(WebSocketStreams, WhatIsNoLongerKeptIsAGap) {
    for (int i = 0; i < 5; ++i) make_card("Card");
    ASSERT_TRUE(eventually([&] { return cards_in_order() == "5"; }));
    const auto dropped =
        std::stoll(ask("UPDATE event_heads SET dropped = sequence - 2 RETURNING dropped"));
    auto ws = connect();
    ws->say({{"type", "subscribe"}, {"id", "s"}, {"after", 1}, {"kinds", {"card.created"}}});
    EXPECT_EQ(ws->next_of("gap").at("oldest").as_int64(), dropped + 1);
    EXPECT_EQ(ws->next_of("event").at("event").at("sequence").as_int64(), dropped + 1);
    EXPECT_FALSE(ws->next_of("subscribed").at("recovered").as_bool());
}

TEST_F(WebSocketStreams, UnsubscribingEndsOneAndLeavesTheOther) {
    auto ws = connect();
    ws->subscribe("a", board);
    ws->subscribe("b", board);
    ws->say({{"type", "unsubscribe"}, {"id", "a"}});
    EXPECT_EQ(ws->next_of("unsubscribed").at("id").as_string(), "a");
    make_card("One");
    EXPECT_EQ(ws->next_of("event").at("id").as_string(), "b");
    make_card("Two");
    EXPECT_EQ(ws->next_of("event").at("id").as_string(), "b");
    ws->subscribe("a", board);
}

TEST_F(WebSocketStreams, AnswersPingsOfBothSorts) {
    auto ws = connect();
    ws->say({{"type", "ping"}});
    ws->next_of("pong");
    ws->send({live::Opcode::ping, "hello"});
    const auto pong = ws->next();
    ASSERT_TRUE(pong);
    EXPECT_EQ(pong->opcode, live::Opcode::pong);
    EXPECT_EQ(pong->payload, "hello");
}

TEST_F(WebSocketStreams, AWrongMessageIsAnsweredAndEndsNothing) {
    auto ws = connect();
    for (const std::string text :
         {"",
          "{",
          "[]",
          "1",
          R"({"type":"subscribe"})",
          R"({"type":"what"})",
          R"({"id":"s1"})",
          R"({"type":"subscribe","id":"s1","board_id":"no"})",
          R"({"type":"subscribe","id":"s1","kinds":["no"]})",
          R"({"type":"subscribe","id":"s1","kinds":[]})",
          R"({"type":"subscribe","id":"s1","after":-1})",
          R"({"type":"subscribe","id":"s1","after":1e99})",
          R"({"type":"subscribe","id":"s1","unknown":1})",
          R"({"type":"subscribe","id":1})",
          R"({"type":"unsubscribe","id":"nobody"})"}) {
        ws->send({live::Opcode::text, text});
        const auto error = ws->next_of("error");
        EXPECT_EQ(error.at("error").at("status").as_int64(), 422) << text;
    }
    ws->say({{"type", "subscribe"}, {"id", "x"}, {"board_id", new_uuid().str()}});
    const auto error = ws->next_of("error");
    EXPECT_EQ(error.at("id").as_string(), "x");
    EXPECT_EQ(error.at("error").at("code").as_string(), "object_not_found");
    ws->subscribe("x", board);
    ws->say({{"type", "subscribe"}, {"id", "x"}});
    EXPECT_EQ(ws->next_of("error").at("error").at("status").as_int64(), 422) << "the name is taken";
    make_card("One");
    EXPECT_EQ(ws->next_of("event").at("id").as_string(), "x");
}

TEST_F(WebSocketStreams, SubscriptionsAndMessagesAreBounded) {
    auto ws = connect();
    int subscribed = 0, refused = 0;
    for (int i = 0; i < 1'000; ++i)
        if (!ws->say({{"type", "subscribe"}, {"id", "s" + std::to_string(i)}})) break;
    int code = 0;
    while (const auto frame = ws->next(5s)) {
        if (frame->opcode == live::Opcode::close) {
            code = frame->close_code();
            break;
        }
        if (frame->opcode != live::Opcode::text) continue;
        const auto message = frame->json();
        subscribed += message.at("type").as_string() == "subscribed";
        refused += message.at("type").as_string() == "error" &&
                   message.at("error").at("status").as_int64() == 429;
    }
    EXPECT_LE(subscribed, 100);
    EXPECT_GT(refused, 0);
    EXPECT_EQ(code, 1008) << "a thousand messages at once are too many";
    auto other = connect();
    other->subscribe("s", board);
}

TEST_F(WebSocketStreams, HowTheyEndIsSaid) {
    const auto agent = make_agent("Robot");
    auto killed = connect(agent.token);
    killed->subscribe("s");
    expect(200, client.post("/v1/agents/" + agent.id + ":disable"));
    EXPECT_EQ(killed->close_code(), 4401);

    auto leaving = connect();
    leaving->send({live::Opcode::close, std::string("\x03\xE8", 2)});
    EXPECT_EQ(leaving->close_code(), 1000);
    EXPECT_TRUE(leaving->raw().is_closed_within(5s));

    auto staying = connect();
    server.signal(SIGTERM);
    EXPECT_EQ(staying->close_code(), 1001);
    EXPECT_TRUE(server.wait(30s));
}

TEST_F(WebSocketStreams, WhoBreaksTheProtocolIsToldHow) {
    const std::vector<std::pair<std::string, int>> cases{
        {ClientFrame{live::Opcode::text, "x", true, false}.bytes(), 1002},
        {ClientFrame{live::Opcode::binary, "x"}.bytes(), 1003},
        {ClientFrame{live::Opcode::text, "\xFF"}.bytes(), 1007},
        {std::string("\x81\xFF\0\0\0\1\0\0\0\0mask", 14), 1009},
        {"GET / HTTP/1.1\r\n\r\n", 1002},
    };
    for (const auto& [bytes, code] : cases) {
        auto ws = connect();
        ws->send_bytes(bytes);
        EXPECT_EQ(ws->close_code(), code);
        EXPECT_TRUE(ws->raw().is_closed_within(5s));
    }
    expect(200, client.get("/v1/me"));
}

TEST_F(WebSocketStreams, HalfFramesAndSilenceHoldUpNobody) {
    std::vector<std::unique_ptr<WsClient>> silent;
    for (int i = 0; i < 20; ++i) {
        silent.push_back(connect());
        silent.back()->send_bytes(std::string("\x81\xFE\x10", 3));
    }
    auto ws = connect();
    ws->subscribe("s", board, std::stoll(last_sequence()));
    const auto card = make_card("One");
    EXPECT_EQ(card_in(ws->next_of("event")), card);
}

TEST_F(WebSocketStreams, AReaderThatNeverReadsIsClosedAs1013AndTheOthersGetAll) {
    WsClient deaf(server.port(), token, 4096);
    deaf.say({{"type", "subscribe"}, {"id", "s"}});
    auto ws = connect();
    ws->subscribe("s", board, std::nullopt, {"card.created"});
    const std::string text = letters(50'000);
    columns[board] = column_of(board);
    for (int i = 0; i < 40; ++i)
        expect(
            201,
            client.post(
                "/v1/boards/" + board + "/cards",
                json::value{{"column_id", columns[board]}, {"title", "Card"}, {"markdown", text}}
            )
        );
    for (int i = 0; i < 40; ++i) ws->next_of("event");
    std::int64_t last = 0;
    int code = 0;
    while (const auto frame = deaf.next(10s)) {
        if (frame->opcode == live::Opcode::close) code = frame->close_code();
        if (frame->opcode != live::Opcode::text) continue;
        const auto message = frame->json();
        if (message.at("type").as_string() == "event")
            last = message.at("event").at("sequence").as_int64();
    }
    EXPECT_EQ(code, 1013);
    auto again = connect();
    again->say({{"type", "subscribe"}, {"id", "s"}, {"after", last}});
    while (last < std::stoll(ask("SELECT max(sequence) FROM events"))) {
        const auto sequence = again->next_of("event").at("event").at("sequence").as_int64();
        EXPECT_EQ(sequence, last + 1) << "the owner sees everything";
        last = sequence;
    }
}

TEST_F(WebSocketStreams, ACookieCountsForOurOwnPagesAlone) {
    const std::string own = "http://127.0.0.1:" + std::to_string(server.port());
    const auto status = [&](const std::string& headers) {
        return WsClient(server.port(), "/v1/ws?org_id=" + workspace.org_id, cookies() + headers)
            .head.status;
    };
    EXPECT_EQ(status("Origin: " + own + "\r\n"), 101);
    EXPECT_EQ(status("Origin: https://evil.example\r\n"), 403);
    EXPECT_EQ(status("Origin: null\r\n"), 403);
    EXPECT_EQ(status(""), 403) << "a browser says where a page is from";
    EXPECT_EQ(status("Origin: " + own + ".evil.example\r\n"), 403);
    EXPECT_EQ(
        WsClient(server.port(), "/v1/ws", bearer() + "Origin: https://evil.example\r\n")
            .head.status,
        101
    ) << "a token is sent on purpose";
    EXPECT_EQ(WsClient(server.port(), "/v1/ws", "").head.status, 401);
    EXPECT_EQ(
        WsClient(server.port(), "/v1/ws?org_id=" + new_uuid().str(), bearer()).head.status, 404
    );
    EXPECT_EQ(WsClient(server.port(), "/v1/ws?org_id=no", bearer()).head.status, 422);
}

TEST_F(WebSocketStreams, ATicketOpensOneStreamOfItsMakersWorkspace) {
    const auto made = expect(200, client.post("/v1/ws-tickets"));
    const auto ticket = made.text("/ticket");
    WsClient ws(server.port(), "/v1/ws?ticket=" + ticket, "Origin: https://boards.example\r\n");
    ASSERT_EQ(ws.head.status, 101);
    EXPECT_EQ(ws.next_of("ready").at("org_id").as_string(), workspace.org_id);
    ws.subscribe("s", board, std::stoll(last_sequence()));
    const auto card = make_card("One");
    EXPECT_EQ(card_in(ws.next_of("event")), card);
    EXPECT_EQ(WsClient(server.port(), "/v1/ws?ticket=" + ticket, "").head.status, 401) << "used";
    EXPECT_EQ(SseClient(server.port(), "/v1/sse?ticket=" + ticket, "", 0).head.status, 401);
    std::string forged = expect(200, client.post("/v1/ws-tickets")).text("/ticket");
    forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
    EXPECT_EQ(WsClient(server.port(), "/v1/ws?ticket=" + forged, "").head.status, 401);
    EXPECT_EQ(WsClient(server.port(), "/v1/ws?ticket=", "").head.status, 401);
    const auto second = expect(200, client.post("/v1/ws-tickets")).text("/ticket");
    EXPECT_EQ(server.client().get("/v1/me?ticket=" + second).status, 401) << "for streams alone";
    SseClient sse(server.port(), "/v1/sse?ticket=" + second, "", 0);
    EXPECT_EQ(sse.head.status, 200);
    EXPECT_EQ(server.output().find(second), std::string::npos) << "tickets are not logged";
    // What ends the session ends its streams.
    expect(204, workspace.client.post("/v1/auth/logout"));
    EXPECT_EQ(ws.close_code(), 4401);
    EXPECT_TRUE(sse.ends());
}

TEST_F(WebSocketStreams, WhatIsNoUpgradeIsToldHow) {
    Client by = server.client();
    by.token(token);
    const auto reply = by.get("/v1/ws");
    EXPECT_EQ(reply.status, 426);
    EXPECT_EQ(reply.header("sec-websocket-version"), "13");
    http::test::Client raw(server.port());
    const auto answer = raw.ask(http::test::get(
        "/v1/ws",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: short\r\n" +
            bearer()
    ));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 422);
}

TEST_F(WebSocketStreams, AHeadOpensNone) {
    for (const std::string path : {"/v1/ws", "/v1/sse"}) {
        http::test::Client raw(server.port());
        const auto answer = raw.ask(
            "HEAD " + path +
                " HTTP/1.1\r\nHost: board.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                bearer() + "\r\n",
            "HEAD"
        );
        ASSERT_TRUE(answer) << path;
        EXPECT_EQ(answer->status, 405) << path;
    }
}

class FewStreams : public LiveTest {
protected:
    FewStreams() : LiveTest({"live.streams_per_principal=3"}) {}
};

TEST_F(FewStreams, ACallerHasSoManyAndNoMoreOfBothSortsTogether) {
    std::vector<std::unique_ptr<WsClient>> open;
    for (int i = 0; i < 2; ++i) open.push_back(std::make_unique<WsClient>(server.port(), token));
    SseClient sse(server.port(), token);
    for (const auto& each : open) EXPECT_EQ(each->head.status, 101);
    EXPECT_EQ(sse.head.status, 200);
    EXPECT_EQ(WsClient(server.port(), token).head.status, 429);
    const auto agent = make_agent("Robot");
    EXPECT_EQ(WsClient(server.port(), agent.token).head.status, 101) << "others have their own";
    open.clear();
    EXPECT_TRUE(eventually([&] { return WsClient(server.port(), token).head.status == 101; }));
}

TEST_F(WebSocketStreams, AStormOfReconnectsLosesNothing) {
    auto steady = connect();
    steady->subscribe("s", board, std::nullopt, {"card.created"});
    std::atomic<bool> done{false};
    std::vector<std::thread> storm;
    for (int i = 0; i < 4; ++i)
        storm.emplace_back([&] {
            while (!done) {
                WsClient each(server.port(), token);
                if (each.head.status != 101) continue;
                each.say({{"type", "subscribe"}, {"id", "s"}, {"after", 0}});
            }
        });
    std::vector<std::string> made;
    for (int i = 0; i < 40; ++i) made.push_back(make_card("Card"));
    for (const std::string& each : made) EXPECT_EQ(card_in(steady->next_of("event")), each);
    done = true;
    for (auto& each : storm) each.join();
}

}  // namespace

}  // namespace svc::test

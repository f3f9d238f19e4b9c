#include "tests/support/database_role.hpp"
#include "tests/support/mcp_client.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

namespace svc::test {
namespace {

using std::chrono::milliseconds;

/// Two servers on one database: what is switched off on one is off on the other.
class KillSwitch : public AgentsTest {
protected:
    KillSwitch() : second({.database_url = database}) {}

    RawStream open_stream(McpClient& mcp, const Server& on) {
        RawStream stream(on.port(), mcp.stream_request());
        const auto& head = stream.read_until([](const std::string& seen) {
            return seen.find(": open") != std::string::npos;
        });
        EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
        return stream;
    }
    /// An open stream of this token on that server.
    RawStream stream_of(const Reply& token, const Server& on) {
        McpClient mcp(on.port(), token.text("/token"));
        expect(200, mcp.initialize());
        return open_stream(mcp, on);
    }

    Server second;
};

TEST_F(KillSwitch, CountsFromTheNextRequestOnEveryServer) {
    const auto agent = make_agent();
    const auto token = make_token(agent);
    Client here = with(token), there = with(token, second);
    for (int i = 0; i < 20; ++i) {
        expect(200, here.get("/v1/me"));
        expect(200, there.get("/v1/me"));
        disable(agent);
        expect(401, there.get("/v1/me"));
        expect(401, here.get("/v1/me"));
        expect(200, ada.post(path(agent, ":enable")));
    }
}

TEST_F(KillSwitch, NothingIsAnsweredWellOnceItIs) {
    const auto agent = make_agent();
    const auto token = make_token(agent);
    const auto queue = make_queue();
    std::atomic<bool> answered{false};
    std::atomic<int> good{0}, good_after{0};
    auto users = std::async(std::launch::async, [&] {
        return at_once(6, [&](int number) {
            Client robot = with(token, number % 2 ? server : second);
            for (;;) {
                const bool after = answered;
                const auto reply = number % 3 ? add_card(robot, queue) : robot.get("/v1/boards");
                if (reply.status == 401) return reply;
                EXPECT_LT(reply.status, 300) << reply.body;
                ++good;
                if (after) ++good_after;
            }
        });
    });
    while (good < 60) std::this_thread::yield();
    disable(agent);
    const auto cards = ask("SELECT count(*) FROM cards");
    answered = true;
    EXPECT_EQ(count_status(users.get(), 401), 6);
    EXPECT_EQ(good_after, 0);
    EXPECT_EQ(ask("SELECT count(*) FROM cards"), cards) << "committed after it was answered";
}

TEST_F(KillSwitch, WaitsForTheWriteThatIsUnderWay) {
    const auto agent = make_agent();
    const auto token = make_token(agent);
    const auto queue = make_queue();
    Client robot = with(token);
    expect(201, add_card(robot, queue));

    // The write knows who it is, and waits for the column.
    DatabaseRole blocker(Postgres::shared().superuser_url(database));
    blocker.must("BEGIN");
    blocker.must("SELECT 1 FROM columns FOR UPDATE");
    auto write = std::async(std::launch::async, [&] { return add_card(robot, queue, "Late"); });
    ASSERT_TRUE(becomes(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE"
        " '%FROM columns%' AND pid <> pg_backend_pid() AND datname = current_database()",
        "1"
    ));
    auto off = std::async(std::launch::async, [&] { return disable(agent); });
    EXPECT_EQ(off.wait_for(milliseconds(500)), std::future_status::timeout)
        << "answered while the write could still be committed";
    // What comes in the meantime waits behind it and is refused.
    auto later = std::async(std::launch::async, [&] {
        Client more = with(token, second);
        return add_card(more, queue, "Later");
    });
    std::this_thread::sleep_for(milliseconds(100));
    blocker.must("COMMIT");
    EXPECT_EQ(off.get().text("/status"), "disabled");
    EXPECT_EQ(ask("SELECT count(*) FROM cards WHERE title = 'Late'"), "1");
    EXPECT_EQ(write.get().status, 201);
    EXPECT_EQ(later.get().status, 401);
    EXPECT_EQ(ask("SELECT count(*) FROM cards WHERE title = 'Later'"), "0");
}

TEST_F(KillSwitch, CountsWhateverIsUnderWay) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    expect(200, robot.get("/v1/me"));
    // As a write that takes longer than any one statement may.
    DatabaseRole writer(Postgres::shared().superuser_url(database));
    writer.must("BEGIN");
    writer.must("SELECT pg_advisory_xact_lock_shared(hashtextextended('" + agent + "', 0))");
    auto off = std::async(std::launch::async, [&] { return ada.post(path(agent, ":disable")); });
    ASSERT_TRUE(becomes("SELECT status FROM agents", "disabled"));
    expect(401, robot.get("/v1/me"));
    EXPECT_EQ(off.wait_for(milliseconds(6500)), std::future_status::timeout)
        << "answered while the write could still be committed";
    writer.must("COMMIT");
    EXPECT_EQ(expect(200, off.get()).text("/status"), "disabled");
}

TEST_F(KillSwitch, AlsoForAWriteWhoseTokenThisServerHasNotSeenBefore) {
    const auto agent = make_agent();
    const auto token = make_token(agent);
    const auto queue = make_queue();
    Client robot = with(token, second);
    DatabaseRole blocker(Postgres::shared().superuser_url(database));
    blocker.must("BEGIN");
    blocker.must("SELECT 1 FROM columns FOR UPDATE");
    auto write = std::async(std::launch::async, [&] { return add_card(robot, queue, "Late"); });
    ASSERT_TRUE(becomes(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE"
        " '%FROM columns%' AND pid <> pg_backend_pid() AND datname = current_database()",
        "1"
    ));
    auto off = std::async(std::launch::async, [&] {
        return ada.send("DELETE", "/v1/tokens/" + token.text("/id"));
    });
    EXPECT_EQ(off.wait_for(milliseconds(300)), std::future_status::timeout);
    blocker.must("ROLLBACK");
    EXPECT_EQ(off.get().status, 204);
    EXPECT_EQ(write.get().status, 201);
    expect(401, robot.get("/v1/me"));
}

TEST_F(KillSwitch, ClosesTheStreamsOfTheAgentOnEveryServer) {
    const auto agent = make_agent(), other = make_agent();
    const auto token = make_token(agent);
    auto here = stream_of(token, server), there = stream_of(token, second);
    auto bystander = stream_of(make_token(other), server);
    const auto since = std::chrono::steady_clock::now();
    disable(agent);
    EXPECT_TRUE(here.ends());
    EXPECT_TRUE(there.ends());
    EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(10));
    EXPECT_TRUE(bystander.is_open());
}

TEST_F(KillSwitch, StreamsEndWithTheTokenThatOpenedThem) {
    const auto agent = make_agent();
    const auto revoked = make_token(agent), rotated = make_token(agent), kept = make_token(agent);
    auto first = stream_of(revoked, server), second_one = stream_of(rotated, second),
         third = stream_of(kept, server);
    expect(204, ada.send("DELETE", "/v1/tokens/" + revoked.text("/id")));
    EXPECT_TRUE(first.ends());
    expect(200, ada.post("/v1/tokens/" + rotated.text("/id") + ":rotate"));
    EXPECT_TRUE(second_one.ends());
    EXPECT_TRUE(third.is_open());
}

TEST_F(KillSwitch, StreamsEndWhenTheTokenRunsOut) {
    const auto agent = make_agent();
    const auto then = Timestamp{Timestamp::now().micros + 6'000'000};
    const auto token = expect(
        201,
        ada.post(
            "/v1/tokens",
            json::value{
                {"kind", "agent"}, {"name", "Key"}, {"agent_id", agent}, {"expires_at", then.str()}}
        )
    );
    auto stream = stream_of(token, server);
    EXPECT_TRUE(stream.is_open());
    EXPECT_TRUE(stream.ends());
    EXPECT_GE(Timestamp::now().micros, then.micros - 50'000);
}

TEST_F(KillSwitch, StreamsOfATokenEndWithItsOwnersSeat) {
    Client bob = member("bob@example.com", "member");
    const auto user = bob.get("/v1/me").text("/id");
    const auto token = expect(
        201, bob.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "Importer"}})
    );
    auto stream = stream_of(token, second);
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "/members/" + user));
    EXPECT_TRUE(stream.ends());
}

TEST_F(KillSwitch, AnAgentThatIsGoneHasNoStreams) {
    const auto agent = make_agent();
    auto stream = stream_of(make_token(agent), second);
    expect(204, ada.send("DELETE", path(agent)));
    EXPECT_TRUE(stream.ends());
}

TEST_F(KillSwitch, StreamsEndWithTheWorkspace) {
    const auto token = make_token(make_agent());
    auto here = stream_of(token, server), there = stream_of(token, second);
    const auto since = std::chrono::steady_clock::now();
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "?confirm=acme"));
    EXPECT_TRUE(here.ends());
    EXPECT_TRUE(there.ends());
    EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(10));
}

}  // namespace
}  // namespace svc::test

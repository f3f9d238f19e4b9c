// Two servers on one database: an event is sent by one of them, whichever recorded it.

#include "tests/support/metric.hpp"
#include "tests/unit/webhooks/webhooks_fixture.hpp"

#include <csignal>

namespace svc::test {
namespace {

const std::string patient = "webhooks.timeout_seconds=15";

class WebhooksOfTwoServers : public WebhooksTest {
protected:
    WebhooksOfTwoServers() : WebhooksTest({patient}) {}

    std::size_t distinct_events() {
        std::set<std::string> out;
        for (const Received& each : receiver.at()) out.insert(each.header("x-svc-event-id"));
        return out.size();
    }

    static bool has_in_flight(const Server& of) {
        return metric_of(of, "webhook_deliveries_in_flight") > 0;
    }
    /// Has a webhook's first delivery under way until `opened`, others behind it; its id.
    std::string begin_attempt(const std::string& path) {
        hold(path, 200, opened);
        const auto id =
            make_webhook(receiver.url(path), {{"events", {"board.created"}}}).text("/id");
        for (int i = 0; i < 5; ++i) make_board("Board " + std::to_string(i));
        EXPECT_TRUE(eventually([&] { return receiver.count(path) == 1; }));
        EXPECT_TRUE(becomes("SELECT count(*) FROM webhook_deliveries", "5"));
        // Whoever sends has read what waits behind it.
        std::this_thread::sleep_for(500ms);
        return id;
    }
    /// Of the server that does not send.
    Client client_elsewhere() {
        const bool first_sends = eventually([&] { return has_in_flight(server); }, 1s);
        EXPECT_NE(first_sends, has_in_flight(second)) << "one of them sends";
        Client there = first_sends ? second.client() : client();
        log_in(there, "ada@example.com");
        there.always("X-Svc-Org", org);
        return there;
    }
    bool all_let_go() {
        return becomes("SELECT count(*) FROM webhook_endpoints WHERE lease IS NOT NULL", "0");
    }

    Server second{options(with_private_targets({patient}))};
};

TEST_F(WebhooksOfTwoServers, SendEachEventOnceAndGoOnWhenOneIsKilled) {
    std::vector<std::string> ids;
    for (int i = 0; i < 4; ++i)
        ids.push_back(make_webhook(
                          receiver.url("/" + std::to_string(i)), {{"events", {"board.created"}}}
        ).text("/id"));
    Client there = second.client();
    log_in(there, "ada@example.com");
    there.always("X-Svc-Org", org);
    for (int i = 0; i < 20; ++i)
        for (Client* each : {&ada, &there})
            expect(
                201, each->post("/v1/boards", json::value{{"name", "Board " + std::to_string(i)}})
            );
    ASSERT_TRUE(eventually([&] { return receiver.count() >= 160; }));
    EXPECT_TRUE(becomes("SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded'", "160")
    );
    EXPECT_EQ(receiver.count(), 160u) << "none was sent twice";
    EXPECT_EQ(distinct_events(), 40u);

    // A webhook that is changed by one server is known to the other, whichever records.
    expect(200, there.send("PATCH", path_of(ids[0]), R"({"events": ["board.updated"]})"));
    ada.post("/v1/boards", json::value{{"name", "For three"}});
    ASSERT_TRUE(eventually([&] { return receiver.count() == 163; }));

    server.end(SIGKILL);
    for (int i = 0; i < 10; ++i)
        expect(201, there.post("/v1/boards", json::value{{"name", "Late " + std::to_string(i)}}));
    // As if the time were over for which the killed server had leased its endpoints.
    ask("UPDATE webhook_endpoints SET due_at = now() WHERE lease IS NOT NULL RETURNING 1");
    ASSERT_TRUE(eventually([&] { return distinct_events() == 51; }));
    EXPECT_EQ(receiver.count("/0"), 40u);
}

TEST_F(WebhooksOfTwoServers, SendNothingMoreOnceAnotherHasPausedIt) {
    const auto id = begin_attempt("/");
    Client there = client_elsewhere();
    expect(200, there.send("PATCH", path_of(id), R"({"status": "paused"})"));
    opened = true;
    ASSERT_TRUE(all_let_go());
    EXPECT_EQ(receiver.count(), 1u) << "what was under way";
    EXPECT_EQ(ask("SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'"), "4");
}

TEST_F(WebhooksOfTwoServers, SendNothingMoreOnceAnotherHasDeletedIt) {
    const auto id = begin_attempt("/");
    Client there = client_elsewhere();
    expect(204, there.send("DELETE", path_of(id)));
    opened = true;
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhooks", "0"));
    ASSERT_TRUE(all_let_go());
    EXPECT_EQ(receiver.count(), 1u) << "what was under way";
}

TEST_F(WebhooksOfTwoServers, SendToTheUrlAndSignWithTheSecretThatAnotherHasSet) {
    const auto id = begin_attempt("/old");
    Client there = client_elsewhere();
    const auto secret = expect(200, there.post(path_of(id, ":rotate-secret"))).text("/secret");
    expect(
        200,
        there.send(
            "PATCH", path_of(id), json::serialize(json::value{{"url", receiver.url("/new")}})
        )
    );
    opened = true;
    ASSERT_TRUE(eventually([&] { return receiver.count("/new") == 4; }));
    EXPECT_EQ(receiver.count("/old"), 1u) << "what was under way";
    for (const Received& each : receiver.at("/new"))
        EXPECT_EQ(each.header("x-svc-signature"), signature_of(each, secret));
}

TEST_F(WebhooksOfTwoServers, AServerThatStopsKeepsWhatIsUnderWayFromTheOther) {
    const auto id = begin_attempt("/");
    const bool first_sends = has_in_flight(server);
    Server& sending = first_sends ? server : second;
    const auto begun = std::chrono::steady_clock::now();
    sending.end(SIGTERM);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s) << "it does not wait for endpoints";
    EXPECT_EQ(ask_endpoint(id, "lease IS NOT NULL AND due_at > now()"), "t");
    EXPECT_EQ(ask_endpoint(id, "due_at <= now() + interval '15 seconds'"), "t")
        << "longer than whoever was sent it may take nobody waits";
    std::this_thread::sleep_for(2'500ms);  // the other looks every second
    EXPECT_EQ(receiver.count(), 1u) << "nobody knows what becomes of it yet";
    opened = true;
    // As if the time were over for which the server had leased its endpoint.
    ask("UPDATE webhook_endpoints SET due_at = now() RETURNING 1");
    EXPECT_TRUE(becomes("SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded'", "5"));
    EXPECT_EQ(receiver.count(), 6u);
}

}  // namespace
}  // namespace svc::test

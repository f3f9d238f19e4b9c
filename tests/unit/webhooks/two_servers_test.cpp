// Two servers on one database: an event is sent by one of them, whichever recorded it.

#include "tests/unit/webhooks/webhooks_fixture.hpp"

#include <csignal>

namespace svc::test {
namespace {

class WebhooksOfTwoServers : public WebhooksTest {
protected:
    std::size_t distinct_events() {
        std::set<std::string> out;
        for (const Received& each : receiver.at()) out.insert(each.header("x-svc-event-id"));
        return out.size();
    }

    Server second{options(with_private_targets({}))};
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

}  // namespace
}  // namespace svc::test

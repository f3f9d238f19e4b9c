// How much is held for webhooks that take nothing.

#include "modules/webhooks/lib/held.hpp"
#include "tests/support/database_role.hpp"
#include "tests/unit/webhooks/webhooks_fixture.hpp"

namespace svc::test {
namespace {

using webhooks::Held;
using webhooks::HeldBounds;

/// What is kept of so many that wait, first of those that are halted, then of those that are sent
/// to.
using Kept = std::vector<std::int64_t>;
Kept kept_of(const Kept& halted, const Kept& sent, HeldBounds bounds) {
    std::vector<Held> all;
    for (const auto each : halted) all.push_back({each, true});
    for (const auto each : sent) all.push_back({each, false});
    Kept out = webhooks::most_held(all, bounds);
    for (std::size_t i = 0; i < all.size(); ++i) out[i] = std::min(out[i], all[i].waiting);
    return out;
}

TEST(HeldDeliveries, AreSharedOutSoThatWhoHasMostGivesWay) {
    const HeldBounds bounds{10, 100};
    EXPECT_EQ(kept_of({}, {}, bounds), Kept{});
    EXPECT_EQ(kept_of({0, 5, 11}, {90}, {10, 200}), (Kept{0, 5, 10, 90}));
    EXPECT_EQ(kept_of({11, 1'000}, {}, bounds), (Kept{10, 10})) << "though there is room for more";
    EXPECT_EQ(kept_of({}, {60, 60}, bounds), (Kept{50, 50}));
    EXPECT_EQ(kept_of({1'000}, {1'000}, bounds), (Kept{10, 90}));
    EXPECT_EQ(kept_of({5}, {1'000, 1, 90, 3}, bounds), (Kept{5, 45, 1, 45, 3}));
    EXPECT_EQ(kept_of({7, 7, 7}, {}, {10, 2}), (Kept{0, 0, 0}));
}

class WebhooksThatHold : public WebhooksTest {
protected:
    WebhooksThatHold()
        : WebhooksTest({"webhooks.held_per_webhook=20", "webhooks.held_per_workspace=30"}) {}

    std::string make_paused(const std::string& path) {
        const auto id =
            make_webhook(receiver.url(path), {{"events", {"board.created"}}}).text("/id");
        change(id, {{"status", "paused"}});
        return id;
    }
    std::string waiting_for(const std::string& id) {
        return ask(
            "SELECT count(*) FROM webhook_deliveries "
            "WHERE next_attempt_at IS NOT NULL AND webhook_id = '" +
            id + "'"
        );
    }
    /// Makes boards until this is so, for the look at what is held comes after a few.
    bool boards_make(const std::function<bool()>& condition) {
        for (int i = 0; i < 200; ++i) {
            if (condition()) return true;
            boards.push_back(make_board("Board " + std::to_string(i)));
        }
        return condition();
    }
    int dropped(const std::string& id) {
        return static_cast<int>(read_webhook(id).json().at("dropped_count").as_int64());
    }

    std::vector<std::string> boards;
};

TEST_F(WebhooksThatHold, HoldTheNewestAndSayHowManyWereDropped) {
    const auto id = make_paused("/");
    ASSERT_TRUE(boards_make([&] { return dropped(id) >= 30; }));
    for (int i = 0; i < 10; ++i) boards.push_back(make_board("Last " + std::to_string(i)));
    const auto all = std::to_string(boards.size());
    ASSERT_TRUE(becomes(
        "SELECT last_number.count >= " + all +
            " FROM (SELECT count(*) + (SELECT dropped FROM webhook_endpoints) AS count "
            "FROM webhook_deliveries) last_number",
        "t"
    ));
    ASSERT_TRUE(becomes("SELECT count(*) FROM jobs WHERE kind = 'webhooks.drop'", "0"));
    EXPECT_LE(std::stoi(waiting_for(id)), 22);
    EXPECT_GE(std::stoi(waiting_for(id)), 20);
    EXPECT_THAT(server.output(), testing::HasSubstr("deliveries that waited were dropped"));
    // What is held are the newest, and they are sent.
    const int held = std::stoi(waiting_for(id));
    change(id, {{"status", "active"}});
    ASSERT_TRUE(eventually([&] { return receiver.count() >= static_cast<std::size_t>(held); }));
    std::set<std::string> received;
    for (const Received& each : receiver.at())
        received.emplace(json::parse(each.body).at("data").at("id").as_string());
    const std::set<std::string> newest(boards.end() - held, boards.end());
    EXPECT_EQ(received, newest);
}

TEST_F(WebhooksThatHold, OfAWorkspaceShareItsRoom) {
    const auto first = make_paused("/1"), second = make_paused("/2");
    const auto waits = [&](const std::string& id) { return std::stoi(waiting_for(id)); };
    ASSERT_TRUE(boards_make([&] { return dropped(first) >= 10 && dropped(second) >= 10; }));
    ASSERT_TRUE(eventually([&] { return waits(first) + waits(second) <= 33; }));
    EXPECT_GE(waits(first), 15);
    EXPECT_GE(waits(second), 15);
}

TEST_F(WebhooksThatHold, AWebhookWhoseEndpointTakesThemHasTheRoomOfItsWorkspace) {
    hold("/", 200, opened);
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    for (int i = 0; i < 28; ++i) make_board("Board " + std::to_string(i));
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_deliveries", "28"));
    ASSERT_TRUE(becomes("SELECT count(*) FROM jobs WHERE kind = 'webhooks.drop'", "0"));
    opened = true;
    EXPECT_TRUE(becomes("SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded'", "28")
    );
    EXPECT_EQ(dropped(id), 0);
}

TEST_F(WebhooksThatHold, AnEndpointThatIsLeftAloneHasNot) {
    receiver.answer("/", 500);
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    // Until it is left alone, it has the room of its workspace.
    EXPECT_TRUE(boards_make([&] {
        return ask_endpoint(id, "probe_at IS NOT NULL") == "t" && dropped(id) >= 10 &&
               std::stoi(waiting_for(id)) <= 22;
    }));
}

class OldDeliveries : public WebhooksTest {
protected:
    /// A webhook of the workspace with deliveries that nobody keeps any more.
    std::string add_old(Client& by, const std::string& of, int count) {
        const auto id =
            expect(201, by.post("/v1/webhooks", json::value{{"url", receiver.url()}})).text("/id");
        ask("INSERT INTO webhook_deliveries (org_id, webhook_id, id, event_id, position, kind) "
            "SELECT '" +
            of + "', '" + id +
            "', ('0180a0a0-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, gen_random_uuid(), "
            "1, 'board.created' FROM generate_series(1, " +
            std::to_string(count) + ") n RETURNING 1");
        return id;
    }
    void look() { do_now("webhooks.drop_old", database); }
    std::string count_of(const std::string& id) {
        return "SELECT count(*) FROM webhook_deliveries WHERE webhook_id = '" + id + "'";
    }
};

TEST_F(OldDeliveries, AreDroppedInOneWorkspaceWhileAnotherIsHeldUp) {
    Client eve = person("eve@example.com");
    const auto other = expect(201, eve.post("/v1/orgs", json::value{{"name", "E"}})).text("/id");
    eve.always("X-Svc-Org", other);
    const auto first = add_old(ada, org, 3), second = add_old(eve, other, 2'500);
    DatabaseRole locker{Postgres::shared().superuser_url(database)};
    locker.must("BEGIN");
    locker.must("SELECT FROM webhook_deliveries WHERE webhook_id = '" + first + "' FOR UPDATE");
    look();
    EXPECT_TRUE(becomes(count_of(second), "0"));
    EXPECT_EQ(ask(count_of(first)), "3");
    locker.must("ROLLBACK");
    EXPECT_TRUE(eventually([&] {
        look();
        return ask(count_of(first)) == "0";
    }));
}

}  // namespace
}  // namespace svc::test

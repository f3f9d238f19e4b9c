// Changes while an attempt is under way: what it comes to says nothing of what is there by then.

#include "tests/unit/webhooks/webhooks_fixture.hpp"

namespace svc::test {
namespace {

class ChangedWebhooks : public WebhooksTest {
protected:
    ChangedWebhooks() : WebhooksTest({"webhooks.timeout_seconds=30"}) {}

    /// A webhook whose first delivery is under way, and stays so until `opened`, then ends so.
    std::string begin_attempt(const std::string& path, int status) {
        hold(path, status, opened);
        const auto id =
            make_webhook(receiver.url(path), {{"events", {"board.created"}}}).text("/id");
        make_board("Work");
        EXPECT_TRUE(eventually([&] { return receiver.count(path) == 1; }));
        return id;
    }
    std::string redeliver(const std::string& id) {
        const std::string delivery(deliveries(id).at(0).at("id").as_string());
        return expect(200, ada.post(path_of(id, "/deliveries/" + delivery + ":redeliver")))
            .text("/status");
    }
    std::string counts() {
        return ask(
            "SELECT status || ' ' || attempt_count || ' ' || retries || ' ' || "
            "json_array_length(attempts) FROM webhook_deliveries"
        );
    }
};

TEST_F(ChangedWebhooks, GoneAtTheOldUrlIsNotGoneAtTheNew) {
    const auto id = begin_attempt("/old", 410);
    change(id, {{"url", receiver.url("/new")}});
    opened = true;
    const auto done = delivery(id, "succeeded");
    EXPECT_EQ(done.at("attempt_count"), 2);
    EXPECT_EQ(done.at("attempts").at(0).at("status_code"), 410) << "it is listed all the same";
    EXPECT_EQ(receiver.count("/new"), 1u);
    EXPECT_EQ(read_webhook(id).text("/status"), "active");
    EXPECT_EQ(ask("SELECT count(*) FROM events WHERE kind = 'webhook.disabled'"), "0");
}

TEST_F(ChangedWebhooks, AFailureAtTheOldUrlCountsNeitherAgainstTheNewNorAgainstTheDelivery) {
    const auto id = begin_attempt("/old", 500);
    hold("/new", 200, opened_too);
    change(id, {{"url", receiver.url("/new")}});
    opened = true;
    ASSERT_TRUE(eventually([&] { return receiver.count("/new") == 1; }));
    EXPECT_EQ(counts(), "failed 1 0 1");
    EXPECT_EQ(ask_endpoint(id, "consecutive_failures"), "0");
    EXPECT_EQ(ask_endpoint(id, "failing_since IS NULL AND last_failure_at IS NULL"), "t");
    opened_too = true;
    delivery(id, "succeeded");
}

TEST_F(ChangedWebhooks, FailuresOfTheOldUrlAreForgottenByWhoeverSends) {
    receiver.answer("/old", 500);
    const auto id = make_webhook(receiver.url("/old"), {{"events", {"board.created"}}}).text("/id");
    for (int i = 0; i < 3; ++i) make_board("Board " + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return ask_endpoint(id, "consecutive_failures") == "3"; }));
    receiver.answer("/new", 500);
    change(id, {{"url", receiver.url("/new")}});
    make_board("One more");
    ASSERT_TRUE(eventually([&] { return receiver.count("/new") > 0; }));
    ASSERT_TRUE(eventually([&] { return ask_endpoint(id, "consecutive_failures") != "0"; }));
    EXPECT_EQ(ask_endpoint(id, "consecutive_failures"), std::to_string(receiver.count("/new")));
}

TEST_F(ChangedWebhooks, GoneBeforeAnAdminMadeItActiveIsNotGoneAfter) {
    const auto id = begin_attempt("/", 410);
    change(id, {{"status", "paused"}});
    change(id, {{"status", "active"}});
    receiver.answer("/", 200);
    opened = true;
    EXPECT_EQ(delivery(id, "succeeded").at("attempt_count"), 2);
    EXPECT_EQ(read_webhook(id).text("/status"), "active");
}

TEST_F(ChangedWebhooks, WhatIsAskedForOnceMoreDuringAnAttemptIsMadeOnceMore) {
    const auto id = begin_attempt("/", 200);
    EXPECT_EQ(redeliver(id), "pending");
    opened = true;
    ASSERT_TRUE(eventually([&] { return receiver.count() == 2; }));
    EXPECT_TRUE(eventually([&] { return counts() == "succeeded 2 0 2"; })) << counts();
    EXPECT_EQ(receiver.at()[1].header("x-svc-attempt"), "2");
    EXPECT_EQ(
        receiver.at()[0].header("x-svc-delivery-id"), receiver.at()[1].header("x-svc-delivery-id")
    );
}

TEST_F(ChangedWebhooks, AFailureBeforeItWasAskedForOnceMoreIsNotOneOfItsRetries) {
    const auto id = begin_attempt("/", 500);
    redeliver(id);
    opened = true;
    EXPECT_TRUE(eventually([&] { return counts() == "failed 2 1 2"; })) << counts();
    EXPECT_EQ(ask_endpoint(id, "consecutive_failures"), "2");
}

TEST_F(ChangedWebhooks, OneWithoutANameIsCalledByItsUrl) {
    const auto id = make_webhook(receiver.url("/hook"), {{"name", ""}}).text("/id");
    change(id, {{"events", {"card.*"}}});
    expect(202, ada.post(path_of(id, ":test")));
    ASSERT_TRUE(eventually([&] { return receiver.count() == 1; }));
    const auto delivery = deliveries(id).at(0).at("id").as_string();
    expect(200, ada.post(path_of(id, "/deliveries/" + std::string(delivery) + ":redeliver")));
    expect(204, ada.send("DELETE", path_of(id)));
    EXPECT_TRUE(becomes(
        "SELECT count(*) || ' ' || count(*) FILTER (WHERE target_name = '" + receiver.url("/hook") +
            "') FROM audit_events WHERE target_type = 'webhook'",
        "5 5"
    ));
}

}  // namespace
}  // namespace svc::test

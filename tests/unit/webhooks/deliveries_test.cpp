#include "tests/unit/webhooks/webhooks_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class WebhookDeliveries : public WebhooksTest {};

TEST_F(WebhookDeliveries, AnEventReachesTheEndpointSigned) {
    const auto webhook = make_webhook(receiver.url("/hook?a=b"), {{"events", {"board.created"}}});
    const auto board = make_board("Work");
    ASSERT_TRUE(eventually([&] { return receiver.count() == 1; }));
    const auto received = receiver.at().front();
    EXPECT_EQ(received.path, "/hook?a=b");
    EXPECT_EQ(received.header("content-type"), "application/json");
    EXPECT_EQ(received.header("host"), "127.0.0.1:" + std::to_string(receiver.port()));
    EXPECT_EQ(received.header("x-svc-attempt"), "1");
    EXPECT_THAT(received.header("x-svc-signature"), MatchesRegex("t=[0-9]+,v1=[0-9a-f]{64}"));
    EXPECT_EQ(received.header("x-svc-signature"), signature_of(received, webhook.text("/secret")));
    const json::value body = json::parse(received.body);
    EXPECT_EQ(body.at("object").as_string(), "event");
    EXPECT_EQ(body.at("kind").as_string(), "board.created");
    EXPECT_EQ(body.at("data").at("id").as_string(), board);
    EXPECT_EQ(body.at("event_id").as_string(), received.header("x-svc-event-id"));

    const auto delivery = this->delivery(webhook.text("/id"), "succeeded");
    EXPECT_EQ(delivery.at("id").as_string(), received.header("x-svc-delivery-id"));
    EXPECT_EQ(delivery.at("event_id").as_string(), received.header("x-svc-event-id"));
    EXPECT_EQ(delivery.at("kind").as_string(), "board.created");
    EXPECT_EQ(delivery.at("attempt_count"), 1);
    EXPECT_EQ(delivery.at("attempts").at(0).at("status_code"), 200);
    EXPECT_EQ(delivery.at("response_excerpt").as_string(), "ok");
    EXPECT_TRUE(delivery.at("next_attempt_at").is_null());
    EXPECT_NE(read_webhook(webhook.text("/id")).text("/last_success_at"), "null");
}

TEST_F(WebhookDeliveries, AWebhookGetsWhatItsFiltersAndItsBoardLetPass) {
    const auto board = make_board("One"), other = make_board("Other");
    make_webhook(receiver.url("/board"), {{"board_id", board}, {"events", {"board.*", "card.*"}}});
    make_webhook(receiver.url("/kind"), {{"events", {"board.updated"}}});
    make_webhook(receiver.url("/all"));
    for (const auto& each : {board, other}) {
        send(ada, "PATCH", "/v1/boards/" + each, {{"name", "Renamed"}});
        expect(204, ada.send("DELETE", "/v1/boards/" + each));
    }
    // Three webhooks are made; the first sees the others made, and so on.
    ASSERT_TRUE(eventually([&] { return receiver.count("/all") == 4; }));
    const auto kinds = [&](const std::string& path) {
        std::multiset<std::string> out;
        for (const Received& each : receiver.at(path))
            out.emplace(json::parse(each.body).at("kind").as_string());
        return out;
    };
    using Kinds = std::multiset<std::string>;
    EXPECT_TRUE(eventually([&] {
        return kinds("/board") == Kinds{"board.deleted", "board.updated"} &&
               kinds("/kind") == Kinds{"board.updated", "board.updated"};
    }));
    EXPECT_EQ(
        kinds("/all"), (Kinds{"board.deleted", "board.deleted", "board.updated", "board.updated"})
    );
}

TEST_F(WebhookDeliveries, EveryAttemptHasTheSameBytesAndASignatureOfItsOwn) {
    std::atomic<int> attempts{0};
    receiver.answer("/", [&](int socket, const Received&) {
        return write_all(socket, http_answer(++attempts == 1 ? 500 : 204, ""));
    });
    const auto webhook = make_webhook(receiver.url(), {{"events", {"board.created"}}});
    make_board("Work");
    const auto failed = delivery(webhook.text("/id"), "failed");
    EXPECT_EQ(failed.at("attempts").at(0).at("error").as_string(), "answered 500");
    EXPECT_EQ(read_webhook(webhook.text("/id")).text("/consecutive_failures"), "1");
    const auto done = delivery(webhook.text("/id"), "succeeded");
    EXPECT_EQ(done.at("attempt_count"), 2);
    EXPECT_EQ(read_webhook(webhook.text("/id")).text("/consecutive_failures"), "0");
    const auto received = receiver.at();
    ASSERT_EQ(received.size(), 2u);
    EXPECT_EQ(received[0].body, received[1].body);
    EXPECT_EQ(received[0].header("x-svc-delivery-id"), received[1].header("x-svc-delivery-id"));
    EXPECT_EQ(received[1].header("x-svc-attempt"), "2");
    EXPECT_NE(received[0].header("x-svc-signature"), received[1].header("x-svc-signature"))
        << "5 seconds later";
    EXPECT_EQ(
        received[1].header("x-svc-signature"), signature_of(received[1], webhook.text("/secret"))
    );
}

TEST_F(WebhookDeliveries, ATestReachesTheWebhookThatIsTestedAndNoOther) {
    const auto tested = make_webhook(receiver.url("/tested"), {{"events", {"card.moved"}}});
    make_webhook(receiver.url("/other"), {{"events", {"webhook.*"}}});
    expect(202, ada.post(path_of(tested.text("/id"), ":test")));
    ASSERT_TRUE(eventually([&] { return receiver.count("/tested") == 1; }));
    EXPECT_EQ(json::parse(receiver.at("/tested")[0].body).at("kind").as_string(), "webhook.test");
    change(tested.text("/id"), {{"status", "paused"}});
    const auto refused = expect(409, ada.post(path_of(tested.text("/id"), ":test")));
    EXPECT_EQ(refused.text("/additional_data/reason"), "webhook_not_active");
    ASSERT_TRUE(eventually([&] { return receiver.count("/other") == 1; }));
    EXPECT_EQ(json::parse(receiver.at("/other")[0].body).at("kind").as_string(), "webhook.updated");
}

TEST_F(WebhookDeliveries, ARotatedSecretSignsAloneOrBesideTheOld) {
    const auto webhook = make_webhook(receiver.url(), {{"events", {"board.created"}}});
    const auto id = webhook.text("/id");
    const auto signature_after = [&](const std::string& board, std::size_t count) {
        make_board(board);
        EXPECT_TRUE(eventually([&] { return receiver.count() == count; }));
        return receiver.at().back();
    };
    const auto second = expect(200, ada.post(path_of(id, ":rotate-secret"))).text("/secret");
    const auto alone = signature_after("One", 1);
    EXPECT_EQ(alone.header("x-svc-signature"), signature_of(alone, second));

    const auto rotated = expect(
        200, ada.post(path_of(id, ":rotate-secret"), json::value{{"overlap_seconds", 3'600}})
    );
    EXPECT_NE(rotated.text("/old_secret_until"), "null");
    const auto both = signature_after("Two", 2);
    const auto first = signature_of(both, rotated.text("/secret"));
    const auto other = signature_of(both, second);
    EXPECT_EQ(both.header("x-svc-signature"), first + other.substr(other.find(',')));
}

TEST_F(WebhookDeliveries, WhatHappensWhileAWebhookIsPausedIsHeldAndSentInTheEnd) {
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    change(id, {{"status", "paused"}});
    for (const char* name : {"One", "Two", "Three"}) make_board(name);
    ASSERT_TRUE(eventually([&] { return deliveries(id).size() == 3; }));
    make_webhook(receiver.url("/other"), {{"events", {"board.created"}}});
    make_board("Four");
    ASSERT_TRUE(eventually([&] { return receiver.count("/other") == 1; }));
    EXPECT_EQ(receiver.count(), 1u) << "nothing but what the other got";
    change(id, {{"status", "active"}});
    EXPECT_TRUE(eventually([&] { return receiver.count() == 5; }));
}

TEST_F(WebhookDeliveries, AnEndpointThatIsGoneDisablesItsWebhookAndAdminsAreTold) {
    receiver.answer("/", 410);
    const auto id =
        make_webhook(receiver.url(), {{"events", {"board.created"}}, {"name", "CI"}}).text("/id");
    make_board("Work");
    ASSERT_TRUE(eventually([&] { return read_webhook(id).text("/status") == "disabled"; }));
    EXPECT_THAT(read_webhook(id).text("/disabled_reason"), HasSubstr("410"));
    const auto mail = server.mail_to("ada@example.com", 2);
    EXPECT_THAT(mail, HasSubstr("CI"));
    EXPECT_THAT(mail, HasSubstr("disabled"));
    EXPECT_TRUE(becomes("SELECT count(*) FROM events WHERE kind = 'webhook.disabled'", "1"));
    make_board("Later");
    ASSERT_TRUE(eventually([&] { return deliveries(id).size() == 2; }));
    EXPECT_EQ(receiver.count(), 1u);

    receiver.answer("/", 200);
    change(id, {{"status", "active"}});
    EXPECT_TRUE(eventually([&] { return receiver.count() >= 2; })) << "what was held is sent";
    EXPECT_EQ(read_webhook(id).text("/disabled_reason"), "null");
}

TEST_F(WebhookDeliveries, AfterFiveFailuresInARowTheEndpointIsLeftAlone) {
    receiver.answer("/", 503);
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    for (int i = 0; i < 9; ++i) make_board("Board " + std::to_string(i));
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE probe_at > now()", "1"));
    ASSERT_TRUE(eventually([&] { return deliveries(id).size() == 9; }));
    EXPECT_EQ(receiver.count(), 5u);
    EXPECT_EQ(ask_endpoint(id, "consecutive_failures"), "5");
    EXPECT_EQ(ask_endpoint(id, "probe_at > now() + interval '20 seconds'"), "t");
    EXPECT_EQ(ask("SELECT count(*) FROM webhook_deliveries WHERE attempt_count = 0"), "4")
        << "what waits loses no attempts";

    // Half a minute later one is tried, and when it succeeds the others go out.
    receiver.answer("/", 200);
    ask("UPDATE webhook_endpoints SET probe_at = now(), due_at = now() RETURNING 1");
    EXPECT_TRUE(eventually([&] {
        return ask("SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded'") >= "4";
    }));
}

TEST_F(WebhookDeliveries, AnotherUrlIsTriedAtOnceWhateverTheLastOneFailedAt) {
    receiver.answer("/old", 503);
    const auto id = make_webhook(receiver.url("/old"), {{"events", {"board.created"}}}).text("/id");
    for (int i = 0; i < 6; ++i) make_board("Board " + std::to_string(i));
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE probe_at > now()", "1"));
    const auto changed = change(id, {{"url", receiver.url("/new")}});
    EXPECT_EQ(changed.json().at("consecutive_failures").as_int64(), 0);
    EXPECT_TRUE(eventually([&] { return !receiver.at("/new").empty(); }));
    EXPECT_EQ(ask_endpoint(id, "failing_since IS NULL"), "t");
}

TEST_F(WebhookDeliveries, AnEndpointThatFailedForFiveDaysIsDisabledAndAdminsAreToldBefore) {
    receiver.answer("/", 500);
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    for (int i = 0; i < 6; ++i) make_board("Board " + std::to_string(i));
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE probe_at > now()", "1"));
    const auto fail_since = [&](const char* span) {
        const auto count = receiver.count();
        ask("UPDATE webhook_deliveries SET next_attempt_at = now() "
            "WHERE next_attempt_at IS NOT NULL RETURNING 1");
        ask("UPDATE webhook_endpoints SET probe_at = NULL, due_at = now(), failing_since = now() - "
            "interval '" +
            std::string(span) + "' RETURNING 1");
        EXPECT_TRUE(eventually([&] { return receiver.count() > count; }));
    };
    fail_since("25 hours");
    EXPECT_THAT(server.mail_to("ada@example.com", 2), HasSubstr("a day"));
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE lease IS NULL", "1"));
    fail_since("26 hours");
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE lease IS NULL", "1"));
    fail_since("73 hours");
    EXPECT_THAT(server.mail_to("ada@example.com", 3), HasSubstr("3 days"));
    ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE lease IS NULL", "1"));
    EXPECT_EQ(read_webhook(id).text("/status"), "active");
    fail_since("121 hours");
    ASSERT_TRUE(eventually([&] { return read_webhook(id).text("/status") == "disabled"; }));
    EXPECT_THAT(read_webhook(id).text("/disabled_reason"), HasSubstr("answered 500"));
    EXPECT_THAT(server.mail_to("ada@example.com", 4), HasSubstr("was disabled"));
}

TEST_F(WebhookDeliveries, OneDeliveryAndARangeOfFailedOnesAreMadeOnceMore) {
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    make_board("Good");
    const auto good = delivery(id, "succeeded");
    receiver.answer("/", 500);
    for (const char* name : {"One", "Two"}) make_board(name);
    ASSERT_TRUE(eventually([&] { return deliveries(id, "?failed=true").size() == 2; }));
    ask("UPDATE webhook_deliveries SET status = 'abandoned', next_attempt_at = NULL "
        "WHERE status = 'failed' RETURNING 1");

    receiver.answer("/", 200);
    const auto again = expect(
        200,
        ada.post(path_of(id, "/deliveries/" + std::string(good.at("id").as_string()) + ":redeliver")
        )
    );
    EXPECT_EQ(again.text("/status"), "pending");
    ASSERT_TRUE(eventually([&] { return receiver.count() == 4; }));
    const auto sent = receiver.at();
    EXPECT_EQ(sent[3].body, sent[0].body);
    EXPECT_EQ(sent[3].header("x-svc-delivery-id"), sent[0].header("x-svc-delivery-id"));

    const auto none = expect(
        200, ada.post(path_of(id, ":redeliver"), json::value{{"since", "2999-01-01T00:00:00Z"}})
    );
    EXPECT_EQ(none.text("/count"), "0");
    const auto both = expect(
        200, ada.post(path_of(id, ":redeliver"), json::value{{"since", "2020-01-01T00:00:00Z"}})
    );
    EXPECT_EQ(both.text("/count"), "2");
    EXPECT_EQ(both.text("/has_more"), "false");
    ASSERT_TRUE(eventually([&] { return receiver.count() == 6; }));
    EXPECT_TRUE(eventually([&] { return deliveries(id, "?failed=true").empty(); }));
    EXPECT_EQ(
        ada.post(path_of(id, std::string("/deliveries/") + nowhere + ":redeliver")).status, 404
    );
    EXPECT_TRUE(becomes(
        "SELECT count(*) FROM audit_events WHERE action IN "
        "('redeliver_webhook', 'redeliver_failed_deliveries')",
        "2"
    ));
}

TEST_F(WebhookDeliveries, WhatCameBackIsKeptUpToABound) {
    receiver.answer("/", [](int socket, const Received&) {
        const std::string body = std::string(3'000, 'x') + "\xFF\x01";
        return write_all(socket, http_answer(400, "\xFF\x01 caf\xC3\xA9 " + body));
    });
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    make_board("Work");
    const auto failed = delivery(id, "failed");
    const std::string excerpt(failed.at("response_excerpt").as_string());
    EXPECT_TRUE(excerpt.starts_with("?  caf\xC3\xA9 xxx")) << excerpt;
    EXPECT_EQ(excerpt.size(), 1025u) << "1024 characters, one of them of two bytes";
}

TEST_F(WebhookDeliveries, AreListedAndHeldForSoManyDays) {
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    make_board("Work");
    const auto kept = delivery(id, "succeeded");
    change(id, {{"status", "paused"}});
    for (const char* old :
         {"0180a0a0-0000-7000-8000-000000000001", "0180a0a0-0000-7000-8000-0000000000ff"})
        ask("INSERT INTO webhook_deliveries (org_id, webhook_id, id, event_id, position, kind) "
            "VALUES ('" +
            org + "', '" + id + "', '" + old + "', '" + old + "', 1, 'board.created') RETURNING 1");
    ASSERT_EQ(deliveries(id).size(), 3u);
    do_now("webhooks.drop_old", database);
    ASSERT_TRUE(eventually([&] { return deliveries(id).size() == 1; }));
    EXPECT_EQ(deliveries(id).at(0).at("id"), kept.at("id"));
}

TEST_F(WebhookDeliveries, WhatWasDeletedIsNotSent) {
    receiver.answer("/", 500);
    const auto id = make_webhook(receiver.url(), {{"events", {"board.created"}}}).text("/id");
    make_board("Work");
    delivery(id, "failed");
    expect(204, ada.send("DELETE", path_of(id)));
    EXPECT_TRUE(becomes("SELECT count(*) FROM webhook_deliveries", "0"));
    EXPECT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints", "0"));
    EXPECT_EQ(receiver.count(), 1u);
}

}  // namespace
}  // namespace svc::test

#include "svc/encoding.hpp"
#include "tests/unit/webhooks/webhooks_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class WebhookOperations : public WebhooksTest {
protected:
    WebhookOperations() : WebhooksTest({"webhooks.per_workspace=3"}) {}
};

TEST_F(WebhookOperations, AWebhookIsMadeReadListedChangedAndDeleted) {
    const auto board = make_board("Work");
    const auto made = make_webhook(
        receiver.url("/hook"),
        {{"name", "CI"}, {"events", {"card.*", "lease.completed"}}, {"board_id", board}}
    );
    const auto id = made.text("/id");
    EXPECT_EQ(made.text("/object"), "webhook");
    EXPECT_EQ(made.text("/status"), "active");
    EXPECT_EQ(made.text("/board_id"), board);
    EXPECT_EQ(made.text("/created_by/name"), "Ada");
    EXPECT_EQ(read_webhook(id).text("/events/1"), "lease.completed");
    EXPECT_EQ(expect(200, ada.get("/v1/webhooks")).text("/results/0/id"), id);
    EXPECT_EQ(expect(200, ada.get("/v1/webhooks?status=paused")).text("/results"), "[]");

    const auto changed = change(id, {{"name", nullptr}, {"events", {"*"}}, {"status", "paused"}});
    EXPECT_EQ(changed.text("/version"), "2");
    EXPECT_EQ(changed.text("/name"), "null");
    EXPECT_EQ(change(id, json::object()).text("/version"), "2") << "nothing was changed";
    EXPECT_EQ(
        ada.send("PATCH", path_of(id), R"({"name": "x"})", {{"If-Match", "\"1\""}}).status, 412
    );

    expect(204, ada.send("DELETE", path_of(id)));
    expect(404, ada.get(path_of(id)));
    expect(404, ada.get(path_of(id, "/deliveries")));
    EXPECT_EQ(expect(200, ada.get("/v1/webhooks")).text("/results"), "[]");
    EXPECT_TRUE(becomes("SELECT count(*) FROM webhooks", "0")) << "the row goes as well";
    EXPECT_TRUE(becomes(
        "SELECT string_agg(kind, ' ' ORDER BY sequence) FROM events WHERE kind LIKE 'webhook.%'",
        "webhook.created webhook.updated webhook.deleted"
    ));
}

TEST_F(WebhookOperations, SecretsAreShownOnceAndKeptEncrypted) {
    const auto made = make_webhook(receiver.url());
    const auto secret = made.text("/secret");
    EXPECT_THAT(secret, MatchesRegex("whsec_[0-9A-Za-z]{32}"));
    EXPECT_EQ(made.text("/secret_hint"), secret.substr(secret.size() - 4));
    EXPECT_THAT(read_webhook(made.text("/id")).body, Not(HasSubstr("\"secret\"")));
    EXPECT_THAT(expect(200, ada.get("/v1/webhooks")).body, Not(HasSubstr(secret)));

    const std::string chosen = "correct-horse-battery-staple";
    EXPECT_EQ(make_webhook(receiver.url(), {{"secret", chosen}}).text("/secret"), chosen);
    const auto rotated = expect(200, ada.post(path_of(made.text("/id"), ":rotate-secret")));
    EXPECT_THAT(rotated.text("/secret"), MatchesRegex("whsec_[0-9A-Za-z]{32}"));
    EXPECT_NE(rotated.text("/secret"), secret);

    ASSERT_TRUE(becomes("SELECT count(*) FROM events WHERE kind LIKE 'webhook.%'", "3"));
    for (const auto& each : {secret, chosen, rotated.text("/secret")})
        for (const char* table : {"webhooks", "event_log"})
            EXPECT_EQ(
                ask("SELECT count(*) FROM " + std::string(table) + " t WHERE t::text LIKE '%" +
                    each + "%' OR t::text LIKE '%" + hex(each) + "%'"),
                "0"
            ) << table;
}

TEST_F(WebhookOperations, TakeSecretsOfOnesOwnThatAreLongAndWithoutSpaces) {
    for (const char* secret : {"too short", "twenty-four characters, but spaces", ""})
        EXPECT_EQ(
            ada.post(
                   "/v1/webhooks", json::value{{"url", receiver.url()}, {"secret", secret}}
            ).status,
            422
        ) << secret;
}

TEST_F(WebhookOperations, OnlyAdminsHaveWebhooks) {
    const auto id = make_webhook(receiver.url()).text("/id");
    Client member_of_it = member("bob@example.com", "member");
    Client stranger = person("eve@example.com");
    stranger.always(
        "X-Svc-Org", expect(201, stranger.post("/v1/orgs", json::value{{"name", "E"}})).text("/id")
    );
    for (const auto& [method, path] : std::vector<std::pair<std::string, std::string>>{
             {"GET", "/v1/webhooks"},
             {"GET", path_of(id)},
             {"PATCH", path_of(id)},
             {"DELETE", path_of(id)},
             {"POST", path_of(id, ":rotate-secret")},
             {"POST", path_of(id, ":test")},
             {"POST", path_of(id, ":redeliver")},
             {"GET", path_of(id, "/deliveries")},
             {"POST", path_of(id, "/deliveries/" + id + ":redeliver")}
         }) {
        EXPECT_EQ(member_of_it.send(method, path).status, 403) << method << " " << path;
        const int theirs = path == "/v1/webhooks" ? 200 : 404;
        EXPECT_EQ(stranger.send(method, path).status, theirs) << method << " " << path;
    }
    EXPECT_EQ(expect(200, stranger.get("/v1/webhooks")).text("/results"), "[]");
    EXPECT_EQ(read_webhook(id).text("/version"), "1");
}

TEST_F(WebhookOperations, WhatIsWrongIsNamedByItsPlace) {
    const auto loc = [&](json::object what) {
        if (!what.contains("url")) what["url"] = receiver.url();
        return json::serialize(first_loc(expect(422, ada.post("/v1/webhooks", json::value(what)))));
    };
    EXPECT_EQ(loc({{"url", "ftp://example.com/"}}), R"(["body","url"])");
    EXPECT_EQ(loc({{"url", "https://user:pass@example.com/"}}), R"(["body","url"])");
    EXPECT_EQ(loc({{"events", {"card.*", "card.exploded"}}}), R"(["body","events",1])");
    EXPECT_EQ(loc({{"events", {"*.created"}}}), R"(["body","events",0])");
    EXPECT_EQ(loc({{"events", json::array()}}), R"(["body","events"])");
    EXPECT_EQ(loc({{"board_id", nowhere}}), R"(["body","board_id"])");
    EXPECT_EQ(loc({{"status", "active"}}), R"(["body","status"])");
    const auto id = make_webhook(receiver.url()).text("/id");
    EXPECT_EQ(send(ada, "PATCH", path_of(id), {{"status", "disabled"}}).status, 422);
    EXPECT_EQ(send(ada, "PATCH", path_of(id), {{"url", nullptr}}).status, 422);
    EXPECT_EQ(
        ada.post(path_of(id, ":rotate-secret"), json::value{{"overlap_seconds", 86'401}}).status,
        422
    );
}

TEST_F(WebhookOperations, AWorkspaceHasSoManyAndNoMore) {
    const auto replies = at_once(8, [&](int) {
        Client each = ada;
        return each.post("/v1/webhooks", json::value{{"url", receiver.url()}});
    });
    EXPECT_EQ(count_status(replies, 201), 3);
    EXPECT_EQ(count_status(replies, 402), 5);
    const auto refused = ada.post("/v1/webhooks", json::value{{"url", receiver.url()}});
    EXPECT_EQ(refused.text("/code"), "plan_limit_reached");
    EXPECT_EQ(refused.text("/additional_data/limit"), "webhooks");
}

}  // namespace
}  // namespace svc::test

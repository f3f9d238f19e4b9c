// Open pages hear that there is something new, on whichever server they are.

#include "tests/unit/live/live_fixture.hpp"
#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

class NotificationStreams : public NotificationsTest {
protected:
    static std::string token_of(Client& who) {
        return expect(
                   201,
                   who.post(
                       "/v1/tokens",
                       json::value{{"kind", "integration"}, {"name", "Page"}, {"role", "member"}}
                   )
        )
            .text("/token");
    }
    /// Waits for the message, passing over events.
    static std::optional<json::value> news(SseClient& from, std::chrono::milliseconds patience) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (std::chrono::steady_clock::now() < end)
            if (const auto event = from.next(50ms); event && event->event == "notifications")
                return event->json();
        return std::nullopt;
    }

    Server second{options({})};
};

TEST_F(NotificationStreams, HearOfTheirOwnersNewsAlone) {
    const auto bobs = token_of(bob), adas = token_of(ada);
    SseClient of_bob(server.port(), bobs), of_ada(server.port(), adas),
        elsewhere(second.port(), bobs, "?kinds=board.created");
    WsClient page(second.port(), bobs);
    page.next_of("ready");
    ASSERT_TRUE(of_bob.is_attached());
    ASSERT_TRUE(of_ada.is_attached());
    ASSERT_TRUE(elsewhere.is_attached());
    const auto card = make_card({{"assignees", {bob_id}}});
    for (SseClient* each : {&of_bob, &elsewhere}) {
        const auto told = news(*each, 5s);
        ASSERT_TRUE(told);
        EXPECT_EQ(told->at("type").as_string(), "notifications");
        EXPECT_EQ(told->at("org_id").as_string(), org);
        EXPECT_EQ(json::serialize(*told).find(card), std::string::npos)
            << "it says what to ask for";
    }
    EXPECT_EQ(page.next_of("notifications").at("org_id").as_string(), org);
    EXPECT_FALSE(news(of_ada, 500ms));
    EXPECT_EQ(count(bob), 1);
    // Another page of his hears that he has read them.
    expect(200, bob.post("/v1/notifications:readAll"));
    EXPECT_TRUE(news(of_bob, 5s));
    EXPECT_TRUE(news(elsewhere, 5s));
}

// An invitation is listed in each of a person's workspaces.
TEST_F(NotificationStreams, HearOfInvitationsInEveryWorkspaceOfTheirOwner) {
    Client at_home = bob;
    const auto home =
        expect(201, at_home.post("/v1/orgs", json::value{{"name", "Home"}})).text("/id");
    at_home.always("X-Svc-Org", home);
    SseClient at_work(server.port(), token_of(bob)), page(second.port(), token_of(at_home));
    ASSERT_TRUE(at_work.is_attached());
    ASSERT_TRUE(page.is_attached());
    Client carol = person("carol@example.com");
    const auto other =
        expect(201, carol.post("/v1/orgs", json::value{{"name", "Club"}})).text("/id");
    const auto invite = [&] {
        const auto path = "/v1/orgs/" + other + "/invitations";
        return expect(201, carol.post(path, json::value{{"email", "bob@example.com"}})).text("/id");
    };
    const auto both_hear = [&](const char* of) {
        for (SseClient* each : {&at_work, &page}) EXPECT_TRUE(news(*each, 5s)) << of;
    };
    const auto invitation = invite();
    both_hear("the invitation");
    const auto id = text(comes(bob, "invitation"), "id");
    expect(200, bob.post("/v1/notifications/" + id + ":read"));
    both_hear("its being read");
    expect(200, bob.post("/v1/notifications/" + id + ":read"));
    EXPECT_FALSE(news(page, 500ms)) << "it was read already";
    expect(204, carol.send("DELETE", "/v1/orgs/" + other + "/invitations/" + invitation));
    both_hear("its end");
    invite();
    both_hear("another");
    expect(200, at_home.post("/v1/notifications:readAll"));
    both_hear("everything being read");
    EXPECT_EQ(count(bob), 0);
}

TEST_F(NotificationStreams, HearWithinASecond) {
    SseClient page(second.port(), token_of(bob));
    ASSERT_TRUE(page.is_attached());
    make_card({{"assignees", {bob_id}}});  // the first time connections are made
    ASSERT_TRUE(news(page, 5s));
    std::vector<double> took;
    for (int i = 0; i < 5; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        make_card({{"assignees", {bob_id}}});
        ASSERT_TRUE(news(page, 5s));
        took.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()
        );
    }
    std::ranges::sort(took);
    EXPECT_LT(took[took.size() / 2], 1.0);
}

}  // namespace
}  // namespace svc::test

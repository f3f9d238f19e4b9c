// What it costs, however much there is.

#include "tests/support/timing.hpp"
#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

class NotificationBounds : public NotificationsTest {
protected:
    /// People of the workspace who watch the card; their ids, in order.
    std::vector<std::string> watchers(const std::string& card, int many) {
        ask("WITH made AS (INSERT INTO users (id, email, email_key, email_verified, name) SELECT "
            "gen_random_uuid(), 'w' || n || '@x.org', 'w' || n || '@x.org', true, 'W' FROM "
            "generate_series(1, " +
            std::to_string(many) +
            ") n RETURNING id), named AS (INSERT INTO principals (org_id, id, type, name) SELECT "
            "'" +
            org +
            "', id, 'user', 'W' FROM made), watching AS (INSERT INTO card_watchers (org_id, "
            "card_id, principal_id) SELECT '" +
            org + "', '" + card +
            "', id FROM made) INSERT INTO memberships (org_id, user_id, id, role) SELECT '" + org +
            "', id, gen_random_uuid(), 'member' FROM made");
        std::vector<std::string> ids;
        const auto all =
            ask("SELECT json_agg(principal_id ORDER BY principal_id) FROM card_watchers WHERE "
                "card_id = '" +
                card + "'");
        const json::value parsed = json::parse(all);
        for (const auto& each : parsed.as_array()) ids.emplace_back(each.as_string());
        return ids;
    }
};

TEST_F(NotificationBounds, ACommentThatMentionsFiftyOfTwoHundredWatchersReachesAllOfThem) {
    const auto card = make_card();
    const auto people = watchers(card, 200);
    comment(ada, make_card(), "The first of all");
    json::array words{{{"type", "text"}, {"text", {{"content", "All of you "}}}}};
    for (std::size_t i = 0; i < 50; ++i)
        words.push_back({{"type", "mention"}, {"mention", {{"user", {{"id", people[i]}}}}}});
    const json::value said{{"parent", {{"card_id", card}}}, {"rich_text", words}};
    const auto took = quickest(4, 2'000ms, [&] {
        ask("DELETE FROM notifications RETURNING 1");
        const auto begin = std::chrono::steady_clock::now();
        expect(201, ada.post("/v1/comments", said));
        EXPECT_TRUE(becomes("SELECT count(*) FROM notifications", "200"));
        return std::chrono::steady_clock::now() - begin;
    });
    EXPECT_LT(took, 2s);
    EXPECT_EQ(ask("SELECT count(*) FROM notifications WHERE kind = 'mention'"), "50");
    EXPECT_EQ(ask("SELECT count(*) FROM notifications WHERE kind = 'comment'"), "150");
}

TEST_F(NotificationBounds, CountingAndReadingAllCostTheSameWithAHundredThousand) {
    comment(ada, make_card(), "Look ", bob_id);
    comes(bob, "mention");
    settle();
    const auto comes_a_lot = [&] {
        ask("INSERT INTO notifications (org_id, user_id, id, kind, epoch, subject_id, "
            "least_role, board_id, target_type, target_id, title, created_time) SELECT '" +
            org + "', '" + bob_id +
            "', gen_random_uuid(), 'system', i.epoch, gen_random_uuid(), 'viewer', '" + board +
            "', 'board', '" + board +
            "', 'News', now() - n * interval '1 second' FROM generate_series(1, 100000) n, "
            "notification_inboxes i WHERE i.user_id = '" +
            bob_id + "'");
        ask("UPDATE notification_counts SET unread = unread + 100000 WHERE user_id = '" + bob_id +
            "' RETURNING 1");
        ask("ANALYZE notifications");
    };
    comes_a_lot();
    EXPECT_EQ(count(bob), 100'001);
    const double times =
        times_as_long(200, [&] { expect(200, bob.get("/v1/me")); }, [&] { count(bob); });
    RecordProperty("count_against_get_me", std::to_string(times));
    EXPECT_LE(times, 1.5);
    const auto took = quickest(3, 500ms, [&] {
        if (count(bob) == 0) comes_a_lot();
        const auto unread = std::to_string(count(bob));
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(list(bob, "?unread=true").size(), 25u);
        EXPECT_EQ(
            expect(200, bob.post("/v1/notifications:readAll")).text("/updated_count"), unread
        );
        EXPECT_EQ(list(bob, "?unread=true").size(), 0u);
        return std::chrono::steady_clock::now() - begin;
    });
    EXPECT_LT(took, 500ms);
    EXPECT_EQ(count(bob), 0);
    ASSERT_TRUE(becomes("SELECT count(*) FROM notifications WHERE read_at IS NULL", "0"));
}

}  // namespace
}  // namespace svc::test

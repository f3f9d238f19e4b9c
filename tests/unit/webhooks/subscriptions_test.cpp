#include "modules/webhooks/lib/subscriptions.hpp"

#include <gmock/gmock.h>

namespace svc::test {
namespace {

using webhooks::Subscriptions;

class SubscriptionsInMemory : public testing::Test {
protected:
    StoredEvent event(const std::string& kind, const Uuid& of) const {
        StoredEvent out;
        out.org_id = of;
        out.position = 100;
        out.kind = kind;
        return out;
    }
    /// Loads `in_database` as it is now.
    void load(std::span<const StoredEvent> events) {
        const auto missing = all.missing(events);
        all.learn(missing, in_database);
    }
    std::vector<Uuid> matching(const StoredEvent& of) {
        const auto missing = all.missing(std::span(&of, 1));
        return all.matching(of, missing, in_database);
    }

    const Uuid org = new_uuid(), other = new_uuid(), webhook = new_uuid();
    Subscriptions all;
    Subscriptions::Loaded in_database{{org, {{webhook, 99, std::nullopt, {"card.*"}}}}};
};

TEST_F(SubscriptionsInMemory, EverythingIsWantedUntilTheyAreLoaded) {
    const auto moved = event("card.moved", org), made = event("board.created", org);
    EXPECT_TRUE(all.wanted(made));
    EXPECT_TRUE(all.missing({}).all);
    load({});
    EXPECT_FALSE(all.wanted(made));
    EXPECT_TRUE(all.wanted(moved));
    EXPECT_FALSE(all.wanted(event("card.moved", other)));
    EXPECT_THAT(matching(moved), testing::ElementsAre(webhook));
    all.forget();
    EXPECT_TRUE(all.wanted(event("card.moved", other)));
}

TEST_F(SubscriptionsInMemory, AChangeMakesItsWorkspaceUnknownFromThenOn) {
    load({});
    const auto made = event("board.created", org);
    ASSERT_FALSE(all.wanted(made));
    EXPECT_TRUE(all.wanted(event("webhook.updated", org)));
    EXPECT_TRUE(all.wanted(made));
    EXPECT_FALSE(all.wanted(event("board.created", other)));
    EXPECT_THAT(all.missing(std::span(&made, 1)).orgs, testing::ElementsAre(org));
    in_database[org][0].filters = {"board.created"};
    EXPECT_THAT(matching(made), testing::ElementsAre(webhook)) << "by what was just loaded";
    load(std::span(&made, 1));
    EXPECT_TRUE(all.wanted(made));
    EXPECT_FALSE(all.wanted(event("card.moved", org)));
    in_database.erase(org);
    all.wanted(event("webhook.deleted", org));
    load(std::span(&made, 1));
    EXPECT_FALSE(all.wanted(made));
}

// Between the question what to load and the answer a webhook is made somewhere, which the answer
// may not have seen.
TEST_F(SubscriptionsInMemory, WhatChangesWhileItIsLoadedStaysUnknown) {
    const auto made = event("board.created", org);
    const auto first = all.missing({});
    all.wanted(event("webhook.created", org));
    all.learn(first, in_database);
    EXPECT_TRUE(all.wanted(made)) << "all was loaded, and this may be old";
    EXPECT_FALSE(all.wanted(event("board.created", other)));
    const auto second = all.missing(std::span(&made, 1));
    all.wanted(event("webhook.updated", org));
    all.learn(second, in_database);
    EXPECT_TRUE(all.wanted(made));
    load(std::span(&made, 1));
    EXPECT_FALSE(all.wanted(made));
}

TEST_F(SubscriptionsInMemory, ATestIsForItsWebhookWhateverThatTakes) {
    load({});
    auto test = event("webhook.test", org);
    test.object_id = new_uuid();
    EXPECT_FALSE(all.wanted(test));
    test.object_id = webhook;
    EXPECT_TRUE(all.wanted(test));
    EXPECT_FALSE(all.wanted(event("board.created", org))) << "it changes nothing";
}

TEST_F(SubscriptionsInMemory, ABoardsWebhookGetsWhatHappensOnThatBoard) {
    const Uuid board = new_uuid();
    in_database[org][0].board_id = board;
    load({});
    auto moved = event("card.moved", org);
    EXPECT_FALSE(all.wanted(moved)) << "it is on no board";
    moved.board_id = new_uuid();
    EXPECT_FALSE(all.wanted(moved));
    moved.board_id = board;
    EXPECT_TRUE(all.wanted(moved));
}

TEST_F(SubscriptionsInMemory, AWebhookGetsNothingOfBeforeItWasMade) {
    const auto moved = event("card.moved", org);
    for (const auto since : {std::optional<std::int64_t>(100), std::optional<std::int64_t>()}) {
        all.forget();
        in_database[org][0].since = since;
        load({});
        EXPECT_FALSE(all.wanted(moved));
    }
}

}  // namespace
}  // namespace svc::test

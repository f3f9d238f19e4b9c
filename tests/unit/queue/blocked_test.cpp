// Cards that wait for other cards: nobody is given them, and everybody soon after.

#include "tests/support/lock_holder.hpp"
#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <random>

namespace svc::test {

using boost::json::array;
using boost::json::object;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// A queue with one card that waits for one of the backlog.
struct Waiting {
    BoardFixture fixture;
    std::string blocker = fixture.card(fixture.backlog, {{"title", "First"}}).text("/id");
    std::string card =
        fixture.card(
                   fixture.queue, {{"title", "Second"}, {"blocked_by", array{value(blocker)}}}
        ).text("/id");

    Answer must(std::string_view operation, object what) {
        return in_process().must(fixture.owner, operation, what);
    }
    Answer move(const std::string& which, const Uuid& column) {
        return must("move_card", {{"card_id", which}, {"column_id", column.str()}});
    }
    std::vector<std::string> given() { return claim_all(fixture); }
};

/// Cards of the board whose row says otherwise than their links do.
std::string mistaken_rows(const Uuid& board) {
    return in_process().run(
        "SELECT count(*) FROM queue q JOIN cards c ON c.org_id = q.org_id AND c.id = q.card_id "
        "WHERE q.board_id = '" +
        board.str() +
        "' AND q.state <> 'idle' AND q.blocked <> (card_is_open(c.completed_at, c.is_archived, "
        "c.in_trash) AND EXISTS (SELECT FROM card_links l JOIN cards o ON o.org_id = l.org_id AND "
        "o.id = l.card_id WHERE l.org_id = q.org_id AND l.target_id = q.card_id AND l.kind = "
        "'blocks' AND card_is_open(o.completed_at, o.is_archived, o.in_trash)))"
    );
}

}  // namespace

TEST(Blocked, ACardIsGivenToNobodyUntilTheOtherIsDone) {
    Waiting w;
    EXPECT_THAT(w.given(), IsEmpty());
    EXPECT_EQ(
        w.must(
             "get_queue",
             {{"board_id", w.fixture.board.str()}, {"column_id", w.fixture.queue.str()}}
        ).number("/blocked"),
        1
    );
    w.move(w.blocker, w.fixture.done);
    EXPECT_THAT(w.given(), ElementsAre("Second"));
}

TEST(Blocked, ACardIsFreeOnceTheOtherIsArchivedDeletedOrUnlinked) {
    const std::vector<std::function<void(Waiting&)>> ways{
        [](Waiting& w) { w.must("archive_card", {{"card_id", w.blocker}}); },
        [](Waiting& w) { w.must("delete_card", {{"card_id", w.blocker}}); },
        [](Waiting& w) { w.must("update_card", {{"card_id", w.card}, {"blocked_by", array()}}); },
        [](Waiting& w) {
            const auto link =
                in_process().run("SELECT id FROM card_links WHERE target_id = '" + w.card + "'");
            w.must("unlink_cards", {{"card_id", w.card}, {"link_id", link}});
        },
        [](Waiting& w) {
            w.must(
                "update_column",
                {{"board_id", w.fixture.board.str()},
                 {"column_id", w.fixture.backlog.str()},
                 {"kind", "done"}}
            );
        },
    };
    for (std::size_t i = 0; i < ways.size(); ++i) {
        Waiting w;
        EXPECT_THAT(w.given(), IsEmpty()) << i;
        ways[i](w);
        EXPECT_THAT(w.given(), ElementsAre("Second")) << i;
    }
}

TEST(Blocked, ACardWaitsAgainWhenTheOtherIsTakenUpAgain) {
    Waiting w;
    w.move(w.blocker, w.fixture.done);
    w.move(w.blocker, w.fixture.backlog);
    EXPECT_THAT(w.given(), IsEmpty());
    w.must("archive_card", {{"card_id", w.blocker}});
    w.must("restore_card", {{"card_id", w.blocker}});
    EXPECT_THAT(w.given(), IsEmpty());
}

TEST(Blocked, ACardThatIsLinkedWhileItWaitsInTheQueueIsNotGiven) {
    BoardFixture fixture;
    const auto first = fixture.card(fixture.queue, {{"title", "First"}}).text("/id");
    const auto second = fixture.card(fixture.queue, {{"title", "Second"}}).text("/id");
    in_process().must(
        fixture.owner, "link_cards", {{"card_id", second}, {"target_id", first}, {"type", "blocks"}}
    );
    EXPECT_THAT(claim_all(fixture), ElementsAre("Second"));
}

TEST(Blocked, ALeaseOutlivesItAndTheCardIsNotGivenAgain) {
    BoardFixture fixture;
    const auto card = fixture.card(fixture.queue).text("/id");
    const auto other = fixture.card(fixture.backlog).text("/id");
    const Answer claim = fixture.claim();
    in_process().must(
        fixture.owner, "link_cards", {{"card_id", other}, {"target_id", card}, {"type", "blocks"}}
    );
    const Answer renewed = say(fixture.owner, "renew_lease", claim);
    EXPECT_TRUE(renewed.body.at_pointer("/signals/stop").as_bool());
    EXPECT_EQ(say(fixture.owner, "release_lease", claim).status, 200);
    EXPECT_THAT(claim_all(fixture), IsEmpty());
    in_process().must(
        fixture.owner, "move_card", {{"card_id", other}, {"column_id", fixture.done.str()}}
    );
    EXPECT_EQ(claim_all(fixture).size(), 1U);
}

// The same request opens the cards, which wait for each other, and puts them into the queue.
TEST(Blocked, CardsThatAreOpenedAsTheyComeToAQueueWaitForEachOther) {
    BoardFixture fixture;
    const auto first = fixture.card(fixture.done, {{"title", "First"}}).text("/id");
    fixture.card(fixture.done, {{"title", "Second"}, {"blocked_by", array{value(first)}}});
    const object done{{"board_id", fixture.board.str()}, {"column_id", fixture.done.str()}};
    object change = done;
    change["kind"] = "active";
    change["queue"] = {{"enabled", true}};
    in_process().must(fixture.owner, "update_column", change);
    EXPECT_EQ(mistaken_rows(fixture.board), "0");
    const auto claim = [&] { return in_process().must(fixture.owner, "claim_next_card", done); };
    EXPECT_EQ(claim().text("/card/title"), "First");
    EXPECT_FALSE(claim().body.at("claimed").as_bool());
}

TEST(Blocked, CardsThatAreCompletedAsTheyComeToAQueueWaitForNobody) {
    BoardFixture fixture;
    const auto first = fixture.card(fixture.backlog).text("/id");
    fixture.card(fixture.backlog, {{"blocked_by", array{value(first)}}});
    in_process().must(
        fixture.owner,
        "update_column",
        {{"board_id", fixture.board.str()},
         {"column_id", fixture.backlog.str()},
         {"kind", "done"},
         {"queue", {{"enabled", true}}}}
    );
    EXPECT_EQ(mistaken_rows(fixture.board), "0");
}

TEST(Blocked, CardsOfADeletedColumnThatComeToAQueueWaitForEachOther) {
    BoardFixture fixture;
    const auto first = fixture.card(fixture.done, {{"title", "First"}}).text("/id");
    fixture.card(fixture.done, {{"title", "Second"}, {"blocked_by", array{value(first)}}});
    in_process().must(
        fixture.owner,
        "delete_column",
        {{"board_id", fixture.board.str()},
         {"column_id", fixture.done.str()},
         {"move_cards_to", fixture.queue.str()}}
    );
    EXPECT_EQ(mistaken_rows(fixture.board), "0");
    EXPECT_THAT(claim_all(fixture), ElementsAre("First"));
}

TEST(Blocked, ACardStaysSoWhenItComesToAnotherQueue) {
    Waiting w;
    const Uuid other =
        w.fixture.column({{"name", "Next"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}});
    w.move(w.card, other);
    w.must(
        "update_column",
        {{"board_id", w.fixture.board.str()},
         {"column_id", other.str()},
         {"queue", {{"enabled", false}}}}
    );
    w.must(
        "update_column",
        {{"board_id", w.fixture.board.str()},
         {"column_id", other.str()},
         {"queue", {{"enabled", true}}}}
    );
    const auto claim = [&] {
        return w.must(
            "claim_next_card", {{"board_id", w.fixture.board.str()}, {"column_id", other.str()}}
        );
    };
    EXPECT_FALSE(claim().body.at("claimed").as_bool());
    w.move(w.blocker, w.fixture.done);
    EXPECT_TRUE(claim().body.at("claimed").as_bool());
}

// The statement that locks a card which is completed looks at its links before it waits for whoever
// is just adding one.
TEST(Blocked, ACardThatComesToWaitWhileTheOtherIsCompletedIsFree) {
    BoardFixture fixture;
    const auto blocker = fixture.card(fixture.backlog).text("/id");
    const auto card = fixture.card(fixture.queue).text("/id");
    const std::string org = fixture.owner.org_id->str();
    LockHolder ties_them(
        "SELECT FROM cards WHERE id = '" + blocker +
        "' FOR NO KEY UPDATE; INSERT INTO card_links (org_id, card_id, kind, target_id, id, "
        "created_by) VALUES ('" +
        org + "', '" + blocker + "', 'blocks', '" + card + "', '" + new_uuid().str() +
        "', '{}'); UPDATE cards SET blocked_by = '[\"" + blocker + "\"]' WHERE id = '" + card +
        "'; UPDATE queue SET blocked = true WHERE card_id = '" + card + "'"
    );
    std::thread completes([&] {
        in_process().must(
            fixture.owner, "move_card", {{"card_id", blocker}, {"column_id", fixture.done.str()}}
        );
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it waits for the lock
    ties_them.commit();
    completes.join();
    EXPECT_EQ(claim_all(fixture).size(), 1U);
}

TEST(Blocked, OneOfTwoThatAreFinishedAtOnceFreesTheCard) {
    for (int round = 0; round < 10; ++round) {
        BoardFixture fixture;
        array blockers;
        for (int i = 0; i < 4; ++i)
            blockers.push_back(value(fixture.card(fixture.backlog).text("/id")));
        fixture.card(fixture.queue, {{"blocked_by", blockers}});
        std::vector<std::thread> threads;
        for (const value& each : blockers)
            threads.emplace_back([&] {
                in_process().must(
                    fixture.owner,
                    "move_card",
                    {{"card_id", each}, {"column_id", fixture.done.str()}}
                );
            });
        for (auto& each : threads) each.join();
        EXPECT_EQ(claim_all(fixture).size(), 1U);
    }
}

namespace {

void add_many(BoardFixture& fixture, int count) {
    for (int made = 0; made < count;) {
        array operations;
        for (; operations.size() < 100 && made < count; ++made)
            operations.push_back(object{
                {"create",
                 {{"board_id", fixture.board.str()},
                  {"column_id", fixture.queue.str()},
                  {"title", std::to_string(made)}}}
            });
        in_process().must(fixture.owner, "batch_cards", {{"operations", operations}});
    }
}

std::int64_t claim_in_microseconds(BoardFixture& fixture) {
    using Clock = std::chrono::steady_clock;
    const auto from = Clock::now();
    EXPECT_TRUE(fixture.claim().body.at("claimed").as_bool());
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - from).count();
}

std::int64_t median(std::vector<std::int64_t> of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::ranges::nth_element(of, middle);
    return *middle;
}

}  // namespace

TEST(Blocked, AThousandCardsInFrontCostAClaimNothing) {
    BoardFixture crowded, empty;
    add_many(crowded, 1500);
    in_process().run(
        "UPDATE queue SET blocked = true WHERE column_id = '" + crowded.queue.str() + "'"
    );
    add_many(crowded, 50);
    add_many(empty, 50);
    in_process().run("VACUUM ANALYZE queue");
    // In turns, since the machine is another from second to second.
    std::vector<std::int64_t> without, with;
    for (int i = 0; i < 41; ++i) {
        without.push_back(claim_in_microseconds(empty));
        with.push_back(claim_in_microseconds(crowded));
    }
    RecordProperty("without_us", std::to_string(median(without)));
    RecordProperty("with_1500_us", std::to_string(median(with)));
    EXPECT_LT(median(with), 2 * median(without) + 300);
}

// Whatever is done with cards, links and columns, by several at once.
TEST(Blocked, RowsAgreeWithLinksAfterAnythingThatPeopleDo) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    BoardFixture fixture;
    const Uuid second =
        fixture.column({{"name", "Two"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}});
    const std::vector<Uuid> columns{fixture.backlog, fixture.queue, second, fixture.done};
    std::vector<std::string> cards;
    for (std::size_t i = 0; i < 12; ++i)
        cards.push_back(fixture.card(columns[i % columns.size()]).text("/id"));
    const auto work = [&](unsigned thread) {
        std::mt19937 random(seed + thread);
        const auto any = [&](const auto& list) { return list[random() % list.size()]; };
        for (int step = 0; step < 60; ++step) {
            const std::string card = any(cards), other = any(cards);
            const Uuid column = any(columns);
            std::string failed;
            const auto ask = [&](std::string_view operation, object what) {
                failed = operation;
                return in_process().ask(fixture.owner, operation, what).status;
            };
            int status = 200;
            switch (random() % 9) {
                case 0:
                case 1:
                    status =
                        ask("link_cards",
                            {{"card_id", card}, {"target_id", other}, {"type", "blocks"}});
                    break;
                case 2:
                    status = ask("update_card", {{"card_id", card}, {"blocked_by", array()}});
                    break;
                case 3:
                case 4:
                    status = ask("move_card", {{"card_id", card}, {"column_id", column.str()}});
                    break;
                case 5: status = ask("archive_card", {{"card_id", card}}); break;
                case 6: status = ask("restore_card", {{"card_id", card}}); break;
                case 7: {
                    const Answer claim = fixture.claim();
                    failed = "complete_lease";
                    if (claim.body.at("claimed").as_bool())
                        status = say(fixture.owner, "complete_lease", claim).status;
                    break;
                }
                default:
                    status =
                        ask("update_column",
                            {{"board_id", fixture.board.str()},
                             {"column_id", second.str()},
                             {"kind", random() % 2 ? "queue" : "done"},
                             {"queue", {{"enabled", random() % 2 == 0}}}});
            }
            EXPECT_LT(status, 500) << failed;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i) threads.emplace_back(work, i);
    for (auto& each : threads) each.join();
    EXPECT_EQ(mistaken_rows(fixture.board), "0");
}

}  // namespace svc::test

// Cards of a copied board that wait for others, some of which never come.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using boost::json::array;
using boost::json::object;

namespace {

/// A board on which one card waits for others, which come to its copies with a later batch.
struct CopiedQueue {
    BoardFixture source;
    std::string card = source.card(source.queue, {{"title", "Waits"}}).text("/id");
    std::vector<std::string> blockers;
    Answer copy;

    explicit CopiedQueue(int count) {
        constexpr int first_batch = 200;
        for (int i = 0; i < first_batch; ++i) source.card(source.backlog);
        array ids;
        for (int i = 0; i < count; ++i) {
            blockers.push_back(
                source.card(source.backlog, {{"title", "Blocker " + std::to_string(i)}}).text("/id")
            );
            ids.emplace_back(blockers.back());
        }
        must("update_card", {{"card_id", card}, {"blocked_by", ids}});
        copy = must("duplicate_board", {{"board_id", source.board.str()}});
        EXPECT_GT(copy.number("/cards_to_come"), 0);
    }
    Answer must(std::string_view operation, object what) {
        return in_process().must(source.owner, operation, what);
    }
    Answer claim() {
        return must(
            "claim_next_card",
            {{"board_id", copy.text("/id")}, {"column_id", copy.text("/column_ids/1")}}
        );
    }
    bool claimed() { return claim().body.at("claimed").as_bool(); }
    std::string copy_of(const std::string& title) {
        return in_process().run(
            "SELECT id FROM cards WHERE board_id = '" + copy.text("/id") + "' AND title = '" +
            title + "'"
        );
    }
};

}  // namespace

TEST(QueueOfACopy, ACardWhoseBlockerIsLeftOutIsGiven) {
    CopiedQueue c(1);
    EXPECT_FALSE(c.claimed()) << "what it waits for is still to come";
    c.must("delete_card", {{"card_id", c.blockers[0]}});
    in_process().run_job("boards.copy_cards");
    EXPECT_EQ(c.claim().text("/card/title"), "Waits");
}

TEST(QueueOfACopy, ItWaitsForThoseThatCome) {
    CopiedQueue c(2);
    c.must("delete_card", {{"card_id", c.blockers[0]}});
    in_process().run_job("boards.copy_cards");
    EXPECT_FALSE(c.claimed());
    c.must(
        "move_card",
        {{"card_id", c.copy_of("Blocker 1")}, {"column_id", c.copy.text("/column_ids/2")}}
    );
    EXPECT_EQ(c.claim().text("/card/title"), "Waits");
}

}  // namespace svc::test

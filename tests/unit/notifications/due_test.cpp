// Cards that are due soon, however many there are.

#include "modules/notifications/due.hpp"
#include "tests/support/in_process_server.hpp"

namespace svc::test {
namespace {

class DueCards : public testing::Test {
protected:
    /// That many cards on a board of their own, due within a day, each later than the one before.
    void cards(int many) {
        const Answer board =
            here.must(owner, "create_board", {{"name", "Desk " + std::to_string(++boards)}});
        for (int i = 0; i < many; ++i) {
            const Timestamp due{Timestamp::now().micros + (3'600 + i) * std::int64_t(1'000'000)};
            here.must(
                owner,
                "create_card",
                {{"board_id", board.text("/id")},
                 {"column_id", board.text("/column_ids/0")},
                 {"title", "Card"},
                 {"due", due.str()}}
            );
        }
    }
    std::string told() {
        return here.run("SELECT count(*) FROM event_log WHERE kind = 'card.due'");
    }

    InProcessServer here{"mail,orgs,auth,agents,boards,notifications"};
    const Caller owner = here.owner_of_new_org();
    int boards = 0;
};

TEST_F(DueCards, AreAllToldOfHoweverManyABoardHas) {
    cards(1'100);
    cards(1);
    here.run_job("notifications.due");
    EXPECT_EQ(told(), "1101");
    here.run_job("notifications.due");
    EXPECT_EQ(told(), "1101") << "once";
    // Behind more cards than are looked at together, all of which have been told of.
    here.run(
        "UPDATE cards SET due = to_char(now() AT TIME ZONE 'UTC' + interval '20 hours', "
        "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') WHERE id = (SELECT id FROM cards ORDER BY due_key "
        "DESC LIMIT 1)"
    );
    here.run_job("notifications.due");
    EXPECT_EQ(told(), "1102");
}

}  // namespace
}  // namespace svc::test

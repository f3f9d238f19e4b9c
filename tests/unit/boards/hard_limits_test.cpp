// Columns that take no more than so many cards, whoever comes at once.

#include "tests/unit/boards/columns.hpp"

#include <thread>

namespace svc::test {

TEST(HardLimits, HoldForEverybodyWhoComesAtOnce) {
    Columns c;
    const Uuid tight = c.column({{"name", "Tight"}, {"wip_limit", 4}, {"wip_policy", "hard"}});
    c.change(c.queue, {{"queue", {{"on_complete_column_id", tight.str()}}}});
    std::vector<std::string> movers, archived;
    std::vector<Answer>
        claims;  // made while there is room: ahead of a full column nothing is given
    for (int i = 0; i < 6; ++i) movers.push_back(c.card(c.backlog).text("/id"));
    for (int i = 0; i < 3; ++i) {
        archived.push_back(c.card(tight).text("/id"));
        in_process().must(c.owner, "archive_card", {{"card_id", archived.back()}});
        c.card(c.queue);
        claims.push_back(c.claim());
    }
    std::atomic<int> in{0}, refused{0};
    const auto count = [&](const Answer& said) {
        if (said.status < 300) return void(++in);
        EXPECT_EQ(said.text("/code"), "wip_limit_reached");
        EXPECT_EQ(said.text("/additional_data/limit"), "4");
        ++refused;
    };
    std::vector<std::thread> threads;
    for (const std::string& id : movers)
        threads.emplace_back([&, id] {
            count(in_process().ask(
                c.owner, "move_card", {{"card_id", id}, {"column_id", tight.str()}}
            ));
        });
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
            count(in_process().ask(c.owner, "restore_card", {{"card_id", archived[i]}}));
        });
        threads.emplace_back([&] {
            count(in_process().ask(
                c.owner,
                "create_card",
                {{"board_id", c.board.str()}, {"column_id", tight.str()}, {"title", "New"}}
            ));
        });
        threads.emplace_back([&, claim = claims[i]] {
            count(in_process().ask(
                c.owner,
                "complete_lease",
                {{"lease_id", claim.text("/lease/id")}, {"lease_token", claim.text("/lease_token")}}
            ));
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(in, 4);
    EXPECT_EQ(refused, 11);
    EXPECT_EQ(c.titles(tight).size(), 4U);
    EXPECT_EQ(c.read(tight).number("/card_count"), 4);
}

TEST(HardLimits, WhoPutsCardsAwayAndWhoMakesThemDoNotHoldEachOtherUp) {
    Columns c;
    const Uuid roomy = c.column({{"name", "Roomy"}, {"wip_limit", 1000}, {"wip_policy", "hard"}});
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10; ++i)
                EXPECT_EQ(
                    in_process()
                        .ask(
                            c.owner,
                            "create_card",
                            {{"board_id", c.board.str()},
                             {"column_id", roomy.str()},
                             {"title", "New"}}
                        )
                        .status,
                    201
                );
        });
        threads.emplace_back([&] {
            for (int i = 0; i < 5; ++i) {
                const value card{{"card_id", c.card(roomy).text("/id")}};
                EXPECT_EQ(in_process().ask(c.owner, "archive_card", card).status, 200);
                EXPECT_EQ(in_process().ask(c.owner, "restore_card", card).status, 200);
                EXPECT_EQ(in_process().ask(c.owner, "delete_card", card).status, 204);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(c.read(roomy).number("/card_count"), 30);
}

TEST(HardLimits, BelowWhatIsThereRefuseMoreAndKeepTheRest) {
    Columns c;
    for (int i = 0; i < 3; ++i) c.card(c.backlog);
    c.change(c.backlog, {{"wip_limit", 1}});
    c.card(c.backlog);  // a soft one only shows
    c.change(c.backlog, {{"wip_policy", "hard"}});
    const value what{{"board_id", c.board.str()}, {"column_id", c.backlog.str()}, {"title", "X"}};
    const Answer refused = in_process().ask(c.owner, "create_card", what);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/count"), "4");
    EXPECT_EQ(c.titles(c.backlog).size(), 4U);
    const std::string id =
        in_process().must(
                        c.owner, "list_cards", {{"column_id", c.backlog.str()}}
        ).text("/results/0/id");
    const value within{{"card_id", id}, {"column_id", c.backlog.str()}};
    EXPECT_EQ(in_process().ask(c.owner, "move_card", within).status, 200) << "it is there already";
}

}  // namespace svc::test

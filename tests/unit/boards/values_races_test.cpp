// Values of a board's properties, while others change the definitions.

#include "tests/unit/boards/property_fixture.hpp"

namespace svc::test {

TEST(ValuesAtOnce, NewOptionsAreMadeOnceHoweverManyNameThemAtOnce) {
    PropertyFixture properties;
    std::vector<std::thread> writers;
    for (int i = 0; i < 6; ++i)
        writers.emplace_back([&] {
            const std::string card =
                properties.fixture.card(properties.fixture.backlog).text("/id");
            const Answer answer = in_process().ask(
                properties.fixture.owner,
                "update_card",
                {{"card_id", card}, {"properties", {{"multi_select", {"new", "newer"}}}}}
            );
            EXPECT_EQ(answer.status, 200);
        });
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(
        in_process().run(
            "SELECT jsonb_array_length(options) FROM properties WHERE type ="
            " 'multi_select' AND board_id = '" +
            properties.fixture.board.str() + "'"
        ),
        "2"
    );
}

/// Whatever the order in which two things happen at once: a card shows what there is afterwards.
TEST(ValuesAtOnce, FollowDefinitionsThatChangeMeanwhile) {
    for (int round = 0; round < 6; ++round) {
        PropertyFixture properties;
        properties.set("select", "Old");
        const std::string board = properties.fixture.board.str();
        const value option = properties.shown("select");
        const std::string property =
            properties.fixture.get(*Uuid::parse(properties.card)).text("/properties/select/id");
        std::vector<std::thread> threads;
        threads.emplace_back([&] {
            const Answer said = in_process().ask(
                properties.fixture.owner,
                "update_property",
                {{"board_id", board},
                 {"property_id", property},
                 {"name", "Size"},
                 {"options", {{{"id", option.at("id")}, {"name", "New"}}}}}
            );
            EXPECT_EQ(said.status, 200);
        });
        for (const std::string& card : {properties.card, properties.other})
            threads.emplace_back([&, card] {
                const Answer said = in_process().ask(
                    properties.fixture.owner,
                    "update_card",
                    {{"card_id", card},
                     {"properties", {{property, {{"id", option.at("id")}}}}},
                     {"title", "Set"}}
                );
                EXPECT_EQ(said.status, 200);
            });
        threads.emplace_back([&] {
            in_process().must(
                properties.fixture.owner, "duplicate_card", {{"card_id", properties.card}}
            );
        });
        for (auto& thread : threads) thread.join();
        in_process().run_job("boards.rewrite_cards");  // those that somebody held
        EXPECT_EQ(
            in_process().run(
                "SELECT string_agg(DISTINCT properties #>> '{Size,select,name}', ',') || "
                "count(*) FROM cards WHERE board_id = '" +
                board + "'"
            ),
            "New3"
        );
    }
}

TEST(ValuesAtOnce, OfADeletedPropertyAreOnNoCard) {
    for (int round = 0; round < 6; ++round) {
        PropertyFixture properties;
        properties.set("number", 1);
        const std::string property =
            properties.fixture.get(*Uuid::parse(properties.card)).text("/properties/number/id");
        std::thread remover([&] {
            in_process().must(
                properties.fixture.owner,
                "delete_property",
                {{"board_id", properties.fixture.board.str()}, {"property_id", property}}
            );
        });
        const Answer said = in_process().ask(
            properties.fixture.owner,
            "update_card",
            {{"card_id", properties.other}, {"properties", {{property, 2}}}}
        );
        EXPECT_TRUE(said.status == 200 || said.status == 422) << said.status;
        remover.join();
        in_process().run_job("boards.rewrite_cards");
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM cards WHERE properties <> '{}' AND board_id = '" +
                properties.fixture.board.str() + "'"
            ),
            "0"
        );
    }
}

}  // namespace svc::test

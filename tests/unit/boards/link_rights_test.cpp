// Who may remove a link, on the real modules and database.

#include "tests/support/in_process_server.hpp"

namespace svc::test {

TEST(LinkRights, AreThoseOnTheBoardOfTheCardThatWaits) {
    BoardFixture fixture;
    const std::string waiting = fixture.card(fixture.backlog).text("/id");
    const Uuid other =
        in_process().must(fixture.owner, "create_board", {{"name", "Elsewhere"}}).id();
    const Answer columns =
        in_process().must(fixture.owner, "list_columns", {{"board_id", other.str()}});
    const std::string blocker = in_process()
                                    .must(
                                        fixture.owner,
                                        "create_card",
                                        {{"board_id", other.str()},
                                         {"column_id", columns.text("/results/0/id")},
                                         {"title", "First"}}
                                    )
                                    .text("/id");
    const Caller robot = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    in_process().grant(fixture.board, robot, "editor");
    const auto unlinked = [&] {
        const Answer link = in_process().must(
            fixture.owner,
            "link_cards",
            {{"card_id", blocker}, {"target_id", waiting}, {"type", "blocks"}}
        );
        const Answer gone = in_process().ask(
            robot, "unlink_cards", {{"card_id", waiting}, {"link_id", link.text("/id")}}
        );
        const Answer card = in_process().must(fixture.owner, "get_card", {{"card_id", waiting}});
        EXPECT_FALSE(card.body.at("blocked").as_bool());
        return gone.status;
    };
    EXPECT_EQ(unlinked(), 204) << "what it waits for is out of sight";
    in_process().grant(other, robot, "viewer");
    EXPECT_EQ(unlinked(), 204) << "what it waits for may be looked at";
}

}  // namespace svc::test

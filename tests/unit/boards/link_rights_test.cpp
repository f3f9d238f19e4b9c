// Who may remove a link, on the real modules and database.

#include "tests/unit/boards/world.hpp"

namespace svc::test {

TEST(LinkRights, AreThoseOnTheBoardOfTheCardThatWaits) {
    Desk desk;
    const std::string waiting = desk.card(desk.backlog).text("/id");
    const Uuid other = world().must(desk.owner, "create_board", {{"name", "Elsewhere"}}).id();
    const Said columns = world().must(desk.owner, "list_columns", {{"board_id", other.str()}});
    const std::string blocker = world()
                                    .must(
                                        desk.owner,
                                        "create_card",
                                        {{"board_id", other.str()},
                                         {"column_id", columns.text("/results/0/id")},
                                         {"title", "First"}}
                                    )
                                    .text("/id");
    const Caller robot = world().agent(desk.owner, OrgRole::member, "Robot");
    world().grant(desk.board, robot, "editor");
    const auto unlinked = [&] {
        const Said link = world().must(
            desk.owner,
            "link_cards",
            {{"card_id", blocker}, {"target_id", waiting}, {"type", "blocks"}}
        );
        const Said gone = world().ask(
            robot, "unlink_cards", {{"card_id", waiting}, {"link_id", link.text("/id")}}
        );
        const Said card = world().must(desk.owner, "get_card", {{"card_id", waiting}});
        EXPECT_FALSE(card.body.at("blocked").as_bool());
        return gone.status;
    };
    EXPECT_EQ(unlinked(), 204) << "what it waits for is out of sight";
    world().grant(other, robot, "viewer");
    EXPECT_EQ(unlinked(), 204) << "what it waits for may be looked at";
}

}  // namespace svc::test

#include "tests/support/mcp_client.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Boards, columns and cards as people call them.
class McpNames : public McpTest {
protected:
    McpNames() { mcp.initialize(); }

    json::value answer(std::string_view tool, const json::value& arguments) {
        const auto reply = mcp.call(tool, arguments);
        const auto result = reply.json().at("result");
        EXPECT_EQ(result.at("isError"), false) << reply.body;
        return result.at("structuredContent");
    }
    /// The place and the words of a refusal about one argument.
    std::pair<std::string, std::string> refusal(
        std::string_view tool, const json::value& arguments
    ) {
        const auto problem = refusal_in(mcp.call(tool, arguments)).at("detail").at(0);
        return {
            json::serialize(problem.at("loc")) + ' ' + std::string(problem.at("type").as_string()),
            std::string(problem.at("msg").as_string())
        };
    }
    std::string make_board(std::string_view name, std::string_view key) {
        const json::value board{{"name", name}, {"key", key}};
        return expect(201, workspace.client.post("/v1/boards", board)).text("/id");
    }
};

TEST_F(McpNames, StandForIdsWhereverAnIdIsAskedFor) {
    const auto board = make_board("Engine room", "ENG");
    for (const char* each : {"ENG", "eng", "Engine room", "engine ROOM"})
        EXPECT_EQ(answer("get_board", {{"board_id", each}}).at("id"), json::value(board)) << each;
    const auto card =
        answer("create_card", {{"board_id", "ENG"}, {"column_id", "backlog"}, {"title", "Oil it"}});
    EXPECT_EQ(card.at("key"), "ENG-1");
    const auto moved = answer("move_card", {{"card_id", "eng-1"}, {"column_id", "In progress"}});
    EXPECT_NE(moved.at("column_id"), card.at("column_id"));
    EXPECT_EQ(
        answer("list_cards", {{"board_id", "ENG"}, {"column_id", "In Progress"}})
            .at("results")
            .as_array()
            .size(),
        1U
    );
    const auto batch = answer(
        "batch_cards",
        {{"operations",
          {{{"create", {{"board_id", "ENG"}, {"column_id", "Done"}, {"title", "Old"}}}},
           {{"move", {{"card_id", "ENG-1"}, {"column_id", "Backlog"}}}}}}}
    );
    EXPECT_EQ(answer("get_card", {{"card_id", "ENG-1"}}).at("column_id"), card.at("column_id"));
}

TEST_F(McpNames, CaseDoesNotMatterInAnyScript) {
    const auto board = make_board("Übung ΔΟΚΙΜΗ", "UEB");
    EXPECT_EQ(answer("get_board", {{"board_id", "übung δοκιμη"}}).at("id"), json::value(board));
    expect(
        201,
        workspace.client.post("/v1/boards/" + board + "/columns", json::value{{"name", "Büro"}})
    );
    answer("create_card", {{"board_id", "UEB"}, {"column_id", "BÜRO"}, {"title", "Oil it"}});
}

TEST_F(McpNames, OfAColumnAloneSayWhichBoardIsMeant) {
    const auto queue = make_queue();
    add_card(queue, "One");
    EXPECT_EQ(answer("claim_next_card", {{"column_id", "to do"}}).at("claimed"), true);
    EXPECT_EQ(answer("get_queue", {{"column_id", queue.column_id}}).at("leased"), 1);
}

TEST_F(McpNames, ThatNothingHasAreRefusedWithThoseThereAre) {
    make_board("Engine room", "ENG");
    const auto [board_at, boards] = refusal("get_board", {{"board_id", "Kitchen"}});
    EXPECT_EQ(board_at, R"(["arguments","board_id"] unknown_name)");
    EXPECT_THAT(boards, HasSubstr("\"Kitchen\""));
    EXPECT_THAT(boards, HasSubstr("ENG \"Engine room\""));
    const auto [column_at, columns] =
        refusal("list_cards", {{"board_id", "ENG"}, {"column_id", "Later"}});
    EXPECT_EQ(column_at, R"(["arguments","column_id"] unknown_name)");
    EXPECT_THAT(columns, HasSubstr("\"Backlog\", \"In progress\", \"Done\""));
    const auto [in_batch, ignored] = refusal(
        "batch_cards",
        {{"operations",
          {{{"create", {{"board_id", "ENG"}, {"column_id", "Done"}, {"title", "Old"}}}},
           {{"create", {{"board_id", "ENG"}, {"column_id", "Later"}, {"title", "New"}}}}}}}
    );
    EXPECT_EQ(in_batch, R"(["arguments","operations",1,"create","column_id"] unknown_name)");
}

TEST_F(McpNames, ThatSeveralHaveAreRefusedWithTheirIds) {
    const auto first = make_board("Twin", "TWA"), second = make_board("twin", "TWB");
    const auto [at, text] = refusal("get_board", {{"board_id", "TWIN"}});
    EXPECT_EQ(at, R"(["arguments","board_id"] ambiguous_name)");
    EXPECT_THAT(text, HasSubstr("TWA \"Twin\", TWB \"twin\""));
    const auto [column_at, columns] = refusal("list_cards", {{"column_id", "Done"}});
    EXPECT_EQ(column_at, R"(["arguments","column_id"] ambiguous_name)");
    EXPECT_THAT(columns, HasSubstr("\"Done\" of TWA ("));
    EXPECT_THAT(columns, HasSubstr("\"Done\" of TWB ("));
    EXPECT_EQ(answer("get_board", {{"board_id", "TWB"}}).at("id"), json::value(second));
}

TEST_F(McpNames, OfBoardsOneDoesNotSeeAreUnknown) {
    const json::value board{{"name", "Secret plans"}, {"key", "SEC"}, {"visibility", "private"}};
    expect(201, workspace.client.post("/v1/boards", board));
    for (const char* each : {"SEC", "Secret plans"}) {
        const auto [at, text] = refusal("get_board", {{"board_id", each}});
        EXPECT_EQ(at, R"(["arguments","board_id"] unknown_name)");
        EXPECT_THAT(text, Not(HasSubstr("SEC \"")));
    }
    EXPECT_THAT(
        refusal("list_cards", {{"column_id", "Backlog"}}).second, Not(HasSubstr("\"Backlog\" of"))
    );
}

TEST_F(McpNames, OfAColumnDoNotTellOfTheBoardOfACardOneDoesNotSee) {
    const json::value board{{"name", "Secret plans"}, {"key", "SEC"}, {"visibility", "private"}};
    const auto id = expect(201, workspace.client.post("/v1/boards", board)).text("/id");
    const auto columns = expect(200, workspace.client.get("/v1/boards/" + id + "/columns"));
    const json::value card{{"column_id", columns.text("/results/0/id")}, {"title", "Plan"}};
    const auto made = expect(201, workspace.client.post("/v1/boards/" + id + "/cards", card));
    const auto told = [&](const std::string& of) {
        return refusal("move_card", {{"card_id", of}, {"column_id", "Nowhere"}});
    };
    EXPECT_EQ(told("SEC-1"), told("NIX-1"));
    EXPECT_EQ(told(made.text("/id")), told(new_uuid().str()));
}

TEST_F(McpNames, AreNotLookedForInWhatIsNotOurs) {
    const auto queue = make_queue();
    add_card(queue, "One");
    const auto claim = answer("claim_next_card", {{"board_id", "WOR"}, {"column_id", "To do"}});
    const json::value mine{{"column_id", "of a newspaper"}, {"board_id", "of directors"}};
    const auto done = answer(
        "complete_lease",
        {{"lease_id", claim.at_pointer("/lease/id")},
         {"lease_token", claim.at("lease_token")},
         {"result", mine}}
    );
    EXPECT_EQ(done.at_pointer("/lease/result"), mine);
}

/// What a call may hold is checked behind the names; each of these may ask the database.
TEST_F(McpNames, AreNotLookedForWhereThereAreMoreThanAnyToolTakes) {
    make_queue();
    const json::value move{{"move", {{"card_id", "WOR-1"}, {"column_id", "Nowhere"}}}};
    EXPECT_EQ(
        refusal("batch_cards", {{"operations", json::array(10, move)}}).first,
        R"(["arguments","operations",0,"move","column_id"] unknown_name)"
    );
    EXPECT_EQ(
        refusal("batch_cards", {{"operations", json::array(501, move)}}).first,
        R"(["arguments","operations"] too_long)"
    );
}

TEST_F(McpNames, OfAColumnAreLookedForOnTheBoardOfTheLease) {
    const auto queue = make_queue();
    make_board("Other work", "OTH");
    add_card(queue, "One");
    const auto claim = answer("claim_next_card", {{"column_id", "To do"}});
    const json::value finished{
        {"lease_token", claim.at("lease_token")}, {"target_column_id", "Done"}
    };
    auto wrong = finished;
    wrong.as_object()["target_column_id"] = "Elsewhere";
    const auto [at, text] = refusal("complete_leases", {{"leases", {wrong}}});
    EXPECT_EQ(at, R"(["arguments","leases",0,"target_column_id"] unknown_name)");
    EXPECT_THAT(text, Not(HasSubstr(" of "))) << "columns of one board need not say which it is";
    const auto done = answer("complete_leases", {{"leases", {finished}}});
    EXPECT_EQ(done.at("succeeded_count"), 1);
}

TEST_F(McpNames, OfPeopleStandForTheirIds) {
    const auto queue = make_queue();
    add_card(queue, "One");
    workspace.mint("agent", "Twin");
    workspace.mint("agent", "twin");
    const json::value me = answer("get_me", json::object{}).at("id");
    const auto assigned = [&](const char* who) {
        return answer("update_card", {{"card_id", "WOR-1"}, {"assignees", {who}}}).at("assignees");
    };
    for (const char* each : {"Robot", "robot", "me"})
        EXPECT_EQ(assigned(each).at(0).at("id"), me) << each;
    EXPECT_EQ(answer("list_cards", {{"assignee_id", "me"}}).at("results").as_array().size(), 1U);
    EXPECT_EQ(answer("get_agent", {{"agent_id", "Robot"}}).at("id"), me);
    const auto [at, text] = refusal("list_cards", {{"assignee_id", "Nobody"}});
    EXPECT_EQ(at, R"(["arguments","assignee_id"] unknown_name)");
    EXPECT_THAT(text, HasSubstr("There is no person or agent \"Nobody\""));
    EXPECT_THAT(text, HasSubstr("\"Robot\""));
    const auto [several_at, several] =
        refusal("update_card", {{"card_id", "WOR-1"}, {"assignees", {"me", "TWIN"}}});
    EXPECT_EQ(several_at, R"(["arguments","assignees",1] ambiguous_name)");
    EXPECT_THAT(several, HasSubstr("\"Twin\" ("));
}

TEST_F(McpNames, OfThoseWhoHaveLeftAreNobodys) {
    const auto minted = workspace.mint("agent", "Leaver");
    const auto found = answer("get_agent", {{"agent_id", "Leaver"}}).at("id");
    const std::string id(found.as_string());
    expect(204, workspace.client.send("DELETE", "/v1/agents/" + id));
    EXPECT_EQ(
        refusal("list_cards", {{"assignee_id", "Leaver"}}).first,
        R"(["arguments","assignee_id"] unknown_name)"
    );
}

TEST_F(McpNames, OfTheWorkspaceGoWithoutSaying) {
    EXPECT_EQ(answer("get_org", json::object{}).at("id"), json::value(workspace.org_id));
    EXPECT_EQ(
        answer("get_org", {{"org_id", workspace.org_id}}).at("id"), json::value(workspace.org_id)
    );
}

TEST_F(McpNames, WhatHasNotChangedIsNotReadAgain) {
    const auto queue = make_queue();
    add_card(queue, "One");
    const auto card = answer("get_card", {{"card_id", "WOR-1"}});
    const auto again =
        answer("get_card", {{"card_id", "WOR-1"}, {"if_none_match", card.at("version")}});
    EXPECT_EQ(
        again,
        (json::value{
            {"object", "card"},
            {"id", card.at("id")},
            {"version", card.at("version")},
            {"not_modified", true}
        })
    );
    EXPECT_EQ(answer("get_card", {{"card_id", "WOR-1"}, {"if_none_match", 77}}).at("title"), "One");
    EXPECT_EQ(
        refusal("get_card", {{"card_id", "WOR-1"}, {"if_none_match", "new"}}).first,
        R"(["arguments","if_none_match"] int_type)"
    );
}

}  // namespace
}  // namespace svc::test

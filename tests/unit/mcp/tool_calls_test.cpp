#include "tests/support/mcp_client.hpp"

#include <future>

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Tools at work.
class McpToolCalls : public McpTest {
protected:
    McpToolCalls() { mcp.initialize(); }
};

TEST_F(McpToolCalls, AnswerTheSameJsonAsTextAndAsStructure) {
    make_queue();
    const auto result = mcp.call("list_boards", json::object{}).json().at("result");
    EXPECT_EQ(result.at("isError"), false);
    ASSERT_EQ(result.at("content").as_array().size(), 1U);
    EXPECT_EQ(result.at("content").at(0).at("type"), "text");
    const std::string text(result.at("content").at(0).at("text").as_string());
    EXPECT_EQ(json::parse(text), result.at("structuredContent"));
    EXPECT_EQ(result.at_pointer("/structuredContent/results/0/name"), "Work");
    EXPECT_THAT(text, Not(HasSubstr(":null")));
    EXPECT_THAT(text, Not(HasSubstr("next_cursor")));
}

TEST_F(McpToolCalls, SumCardsUpWhereTheyAreNotReadByThemselves) {
    const auto queue = make_queue();
    add_card(queue, "One");
    const auto answer = [&](std::string_view tool, const json::value& arguments) {
        return mcp.call(tool, arguments).json().at_pointer("/result/structuredContent");
    };
    const auto whole = answer("get_card", {{"card_id", "WOR-1"}}).as_object();
    for (const char* each : {"board_id", "properties", "comment_count", "queue", "url"})
        EXPECT_TRUE(whole.contains(each)) << each;
    EXPECT_FALSE(whole.contains("org_id"));
    const auto listed = answer("list_cards", {{"board_id", "WOR"}}).at("results").at(0).as_object();
    for (const char* each : {"id", "key", "title", "column_id", "version"})
        EXPECT_EQ(listed.at(each), whole.at(each)) << each;
    for (const char* each : {"queue", "url", "assignees", "blocked", "priority"})
        EXPECT_FALSE(listed.contains(each)) << each;
    const auto moved = answer("move_card", {{"card_id", "WOR-1"}, {"column_id", "Done"}});
    EXPECT_TRUE(moved.as_object().contains("completed_at"));
    EXPECT_FALSE(moved.as_object().contains("url"));
}

TEST_F(McpToolCalls, GiveTheFieldsOfCardsThatAreAskedFor) {
    const auto queue = make_queue();
    add_card(queue, "One");
    const json::array fields{"priority", "blocked", "due"};
    for (const char* tool : {"get_card", "list_cards"}) {
        json::object arguments{{"fields", fields}};
        arguments[tool == std::string("get_card") ? "card_id" : "board_id"] =
            tool == std::string("get_card") ? "WOR-1" : "WOR";
        auto answer = mcp.call(tool, arguments).json().at_pointer("/result/structuredContent");
        if (tool == std::string("list_cards")) answer = answer.at("results").at(0);
        std::set<std::string> names;
        for (const auto& each : answer.as_object()) names.emplace(each.key());
        EXPECT_EQ(
            names, (std::set<std::string>{"object", "id", "version", "priority", "blocked"})
        ) << tool << " leaves out only what is unset";
    }
    const auto refusal =
        refusal_in(mcp.call("get_card", {{"card_id", "WOR-1"}, {"fields", {"colour"}}}));
    EXPECT_EQ(json::serialize(refusal.at("detail").at(0).at("loc")), R"(["arguments","fields"])");
    EXPECT_THAT(
        std::string(refusal.at("detail").at(0).at("msg").as_string()), HasSubstr("priority")
    );
}

TEST_F(McpToolCalls, NameTheArgumentsThatAreWrong) {
    const auto wrong = [&](std::string_view tool, const json::value& arguments) {
        const auto reply = mcp.call(tool, arguments);
        EXPECT_EQ(reply.status, 200);
        std::map<std::string, std::string> problems;
        const auto refusal = refusal_in(reply);
        for (const auto& each : refusal.at("detail").as_array()) {
            EXPECT_EQ(each.at("loc").at(0), "arguments");
            problems[std::string(each.at("loc").as_array().back().as_string())] =
                each.at("type").as_string();
        }
        return problems;
    };
    using Problems = std::map<std::string, std::string>;
    const auto queue = make_queue();
    EXPECT_EQ(
        wrong("claim_next_card", {{"board_id", queue.board_id}, {"lease_ttl_seconds", 1}}),
        (Problems{{"column_id", "missing"}, {"lease_ttl_seconds", "greater_than_equal"}})
    );
    EXPECT_EQ(wrong("claim_next_card", {{"board_id", 7}}).at("board_id"), "uuid_type");
    EXPECT_EQ(wrong("get_me", {{"surprise", true}}), (Problems{{"surprise", "extra_forbidden"}}));
    EXPECT_EQ(wrong("list_boards", {{"page_size", "many"}}), (Problems{{"page_size", "int_type"}}));
}

TEST_F(McpToolCalls, OverwriteNobodysWorkWhenToldTheVersion) {
    const auto queue = make_queue();
    add_card(queue, "One");
    const auto done = [&](std::string_view tool, json::object arguments) {
        arguments["card_id"] = "WOR-1";
        return mcp.call(tool, arguments).json().at("result");
    };
    const auto version = done("get_card", {}).at_pointer("/structuredContent/version").as_int64();
    const std::vector<std::pair<const char*, json::object>> changes{
        {"update_card", {{"title", "Mine"}}},
        {"update_card_markdown", {{"markdown", "Mine"}}},
        {"move_card", {{"column_id", queue.column_id}}},
        {"archive_card", {}},
        {"delete_card", {}}
    };
    for (auto [tool, late] : changes) {
        late["expected_version"] = version + 1;
        late["card_id"] = "WOR-1";
        const auto problem = refusal_in(mcp.call(tool, late));
        EXPECT_EQ(problem.at("code"), "version_conflict") << json::serialize(problem);
        EXPECT_EQ(
            problem.at_pointer("/additional_data/current_version").as_string(),
            std::to_string(version)
        ) << tool;
    }
    for (auto [tool, timely] : changes) {
        const auto card = done("get_card", {}).at("structuredContent");
        timely["expected_version"] = card.at("version");
        EXPECT_EQ(done(tool, timely).at("isError"), false) << tool;
    }
    const auto unknown =
        refusal_in(mcp.call("get_card", {{"card_id", "WOR-1"}, {"expected_version", 1}}));
    EXPECT_EQ(unknown.at_pointer("/detail/0/type"), "extra_forbidden");
}

TEST_F(McpToolCalls, TellOfRefusalsInTheResult) {
    const auto queue = make_queue();
    const json::value elsewhere{
        {"board_id", queue.board_id}, {"column_id", "00000000-0000-7000-8000-000000000000"}
    };
    const auto reply = mcp.call("claim_next_card", elsewhere);
    EXPECT_EQ(refusal_in(reply).at("code"), "object_not_found");
    EXPECT_FALSE(reply.json().at("result").as_object().contains("structuredContent"));
}

TEST_F(McpToolCalls, LeaveOtherPeoplesJsonAlone) {
    const auto queue = make_queue();
    add_card(queue, "One");
    const auto claim = mcp.call("claim_next_card", queue.target()).json().at("result");
    ASSERT_EQ(claim.at("isError"), false) << json::serialize(claim);
    const json::value mine{{"nothing", nullptr}, {"list", {nullptr, {{"deep", nullptr}}}}};
    const auto done = mcp.call(
        "complete_lease",
        {{"lease_id", claim.at_pointer("/structuredContent/lease/id")},
         {"lease_token", claim.at_pointer("/structuredContent/lease_token")},
         {"result", mine}}
    );
    ASSERT_EQ(done.json().at("result").at("isError"), false) << done.body;
    EXPECT_EQ(done.json().at_pointer("/result/structuredContent/lease/result"), mine);
    EXPECT_FALSE(
        done.json().at_pointer("/result/structuredContent/lease").as_object().contains("error")
    );
}

TEST_F(McpToolCalls, WaitWithoutLosingTheCall) {
    const auto queue = make_queue();
    json::value target = queue.target();
    target.as_object()["wait_seconds"] = 20;
    const auto before = std::chrono::steady_clock::now();
    auto waiting =
        std::async(std::launch::async, [&] { return mcp.call("claim_next_card", target).json(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    add_card(queue, "Late");
    const auto answer = waiting.get();
    EXPECT_EQ(answer.at_pointer("/result/structuredContent/card/title"), "Late");
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15));
}

TEST_F(McpToolCalls, DoNotWaitInABatch) {
    const auto queue = make_queue();
    mcp.initialize("2025-03-26");
    json::value target = queue.target();
    target.as_object()["wait_seconds"] = 20;
    const auto message = [](int id, std::string_view tool, const json::value& arguments) {
        return json::value{
            {"jsonrpc", "2.0"},
            {"id", id},
            {"method", "tools/call"},
            {"params", {{"name", tool}, {"arguments", arguments}}}
        };
    };
    const json::value card{
        {"board_id", queue.board_id}, {"column_id", queue.column_id}, {"title", "Once"}
    };
    const json::array batch{
        message(1, "create_card", card),
        message(2, "claim_next_card", target),
        message(3, "claim_next_card", target)
    };
    const auto before = std::chrono::steady_clock::now();
    const auto answers = mcp.post(json::serialize(batch)).json();
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15));
    EXPECT_EQ(answers.at_pointer("/1/result/structuredContent/card/title"), "Once");
    EXPECT_EQ(answers.at_pointer("/2/result/structuredContent/claimed"), false);
}

TEST_F(McpToolCalls, ActInTheNameOfTheToken) {
    const auto me =
        mcp.call("get_me", json::object{}).json().at_pointer("/result/structuredContent");
    EXPECT_EQ(me.at("type"), "bot");
    EXPECT_EQ(me.at("name"), "Robot");
}

}  // namespace
}  // namespace svc::test

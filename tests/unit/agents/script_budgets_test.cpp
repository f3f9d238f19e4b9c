#include "tests/support/in_process_server.hpp"

/// Calls that a module vouches for, as one for scripts does, on the budgets of whom they act as.
namespace svc::test {
namespace {

class ScriptBudgets : public testing::Test {
protected:
    ScriptBudgets() {
        Kernel& kernel = in_process().kernel();
        kernel.impl().budgets = kernel.find<Budgets>();  // as a server that starts does
    }
    Caller agent_with(const std::string& budgets) {
        const Caller owner = in_process().owner_of_new_org();
        Caller agent = in_process().agent(owner, OrgRole::member, "Robot");
        agent.surface = Surface::automation;
        in_process().run("UPDATE agents SET " + budgets + " WHERE id = '" + agent.id.str() + "'");
        in_process().run(
            "INSERT INTO agent_usage (org_id, agent_id, day, minute) VALUES ('" +
            agent.org_id->str() + "', '" + agent.id.str() +
            "', (now() AT TIME ZONE 'UTC')::date, date_trunc('minute', now()))"
        );
        return agent;
    }
};

TEST_F(ScriptBudgets, ThatActAsAnAgentUseItsWrites) {
    const Caller agent = agent_with("daily_writes = 2");
    const value board{{"name", "Board"}};
    in_process().must(agent, "create_board", board);
    EXPECT_EQ(in_process().ask(agent, "create_board", {{"name", ""}}).status, 422)
        << "comes to nothing";
    in_process().must(agent, "create_board", board);
    const Answer refused = in_process().ask(agent, "create_board", board);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "daily_writes");
    in_process().must(agent, "list_boards", boost::json::object());
}

TEST_F(ScriptBudgets, ThatActAsAnAgentUseItsRequests) {
    const Caller agent = agent_with("requests_per_day = 3");
    for (int i = 0; i < 3; ++i) in_process().must(agent, "list_boards", boost::json::object());
    EXPECT_EQ(in_process().ask(agent, "list_boards", boost::json::object()).status, 429);
}

TEST_F(ScriptBudgets, ThatActAsThemselvesHaveNone) {
    Caller script = agent_with("requests_per_day = 0");
    script.type = PrincipalType::automation;
    in_process().must(script, "list_boards", boost::json::object());
}

}  // namespace
}  // namespace svc::test

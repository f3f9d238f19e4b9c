#include "tests/unit/boards/world.hpp"

/// Calls that a module vouches for, as one for scripts does, on the budgets of whom they act as.
namespace svc::test {
namespace {

class ScriptBudgets : public testing::Test {
protected:
    ScriptBudgets() {
        Kernel& kernel = world().kernel();
        kernel.impl().budgets = kernel.find<Budgets>();  // as a server that starts does
    }
    Caller agent_with(const std::string& budgets) {
        const Caller owner = world().owner_of_new_org();
        Caller agent = world().agent(owner, OrgRole::member, "Robot");
        agent.surface = Surface::automation;
        world().run("UPDATE agents SET " + budgets + " WHERE id = '" + agent.id.str() + "'");
        world().run(
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
    world().must(agent, "create_board", board);
    EXPECT_EQ(world().ask(agent, "create_board", {{"name", ""}}).status, 422) << "comes to nothing";
    world().must(agent, "create_board", board);
    const Said refused = world().ask(agent, "create_board", board);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "daily_writes");
    world().must(agent, "list_boards", boost::json::object());
}

TEST_F(ScriptBudgets, ThatActAsAnAgentUseItsRequests) {
    const Caller agent = agent_with("requests_per_day = 3");
    for (int i = 0; i < 3; ++i) world().must(agent, "list_boards", boost::json::object());
    EXPECT_EQ(world().ask(agent, "list_boards", boost::json::object()).status, 429);
}

TEST_F(ScriptBudgets, ThatActAsThemselvesHaveNone) {
    Caller script = agent_with("requests_per_day = 0");
    script.type = PrincipalType::automation;
    world().must(script, "list_boards", boost::json::object());
}

}  // namespace
}  // namespace svc::test

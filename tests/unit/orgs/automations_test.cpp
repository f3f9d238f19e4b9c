#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

/// Answers everybody who leaves with a board; leaving is possible in arrears, boards are not.
std::string farewell() {
    static const TempFolder folder("farewell");
    static const auto script = (folder.path() / "farewell.lua").string();
    write_file(script, R"(
svc.after("member.removed", function(event)
  svc.create_board{name = "Farewell"}
end)
)");
    return script;
}

class AutomatedWorkspace : public WorkspacesTest {
protected:
    AutomatedWorkspace() : WorkspacesTest({"automations.scripts=" + farewell()}) {}
    void somebody_leaves(const std::string& email) {
        Client bob = member(email, "member");
        if (past_due) set_state("past_due");
        expect(204, remove(bob, members + "/me"));
    }
    /// The status that the script's call came to.
    std::string came_to(const std::string& wanted) {
        return ask_until(
            wanted,
            "SELECT calls::jsonb -> 0 ->> 'status' FROM automation_runs WHERE org_id = '" + org +
                "' AND status <> 'running'"
        );
    }

    bool past_due = false;
};

TEST_F(AutomatedWorkspace, WhatAScriptDoesIsInTheAuditRecordUnderItsName) {
    somebody_leaves("bob@example.com");
    ASSERT_EQ(came_to("201"), "201");
    EXPECT_EQ(
        ask_until(
            "automation farewell.lua automation success",
            "SELECT actor_type || ' ' || actor_name || ' ' "
            "|| via || ' ' || outcome FROM audit_events "
            "WHERE action = 'create_board' ORDER BY sequence LIMIT 1"
        ),
        "automation farewell.lua automation success"
    );
}

TEST_F(AutomatedWorkspace, ScriptsChangeNothingInArrears) {
    past_due = true;
    somebody_leaves("bob@example.com");
    EXPECT_EQ(came_to("402"), "402");
    EXPECT_EQ(ask("SELECT count(*) FROM boards"), "0");
}

}  // namespace
}  // namespace svc::test

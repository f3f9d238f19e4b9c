#include "tests/support/in_process_server.hpp"

#include <gtest/gtest.h>

/// Who may report at all, for callers whom only a module can vouch for.
namespace svc::test {
namespace {

InProcessServer& here() {
    // Never destroyed: libraries stay until the end.
    static InProcessServer* const server =
        new InProcessServer("mail,orgs,auth,agents,boards,files,feedback", "store-local");
    return *server;
}

Answer give(const Caller& by) {
    return here().ask(by, "create_feedback", {{"type", "bug"}, {"message", "x"}});
}

TEST(Reporters, ShareLinksAndScriptsAreNone) {
    const Caller owner = here().owner_of_new_org();
    EXPECT_EQ(give(owner).status, 201);
    for (const auto type :
         {PrincipalType::share_link, PrincipalType::automation, PrincipalType::system}) {
        Caller other = owner;
        other.type = type;
        const Answer refused = give(other);
        EXPECT_EQ(refused.status, 403) << name_of(type);
        EXPECT_EQ(refused.text("/code"), "restricted_resource");
        const value wrong{{"filename", "a.png"}};
        EXPECT_EQ(here().ask(other, "presign_feedback_screenshot", wrong).status, 403);
        const value file{{"file_id", new_uuid().str()}};
        EXPECT_EQ(here().ask(other, "commit_feedback_screenshot", file).status, 403);
    }
    // Nothing of it was counted: the owner has as many left as before.
    EXPECT_EQ(here().run("SELECT sum(count) FROM rate_windows"), "1");
}

TEST(Reporters, AreAskedForTheirWorkspaceFirstAndForTheBillLast) {
    Caller owner = here().owner_of_new_org();
    owner.past_due = true;
    EXPECT_EQ(give(owner).text("/code"), "workspace_past_due");
    EXPECT_EQ(
        here().ask(owner, "presign_feedback_screenshot", {{"filename", "/"}}).text("/code"),
        "workspace_past_due"
    );
    EXPECT_EQ(
        here().ask(owner, "commit_feedback_screenshot", {{"file_id", new_uuid().str()}}).status, 404
    );
    owner.past_due = false;
    for (int i = 1; i < 20; ++i) EXPECT_EQ(give(owner).status, 201);
    owner.past_due = true;
    EXPECT_EQ(give(owner).text("/code"), "rate_limited");  // all twenty have counted
}

TEST(Reporters, AreWrittenDownWhateverSurfaceTheyClaim) {
    const Caller owner = here().owner_of_new_org();
    const Caller agent = here().agent(owner, OrgRole::viewer, "Robot");
    const Answer made = give(agent);
    EXPECT_EQ(made.text("/surface"), "api");
    EXPECT_EQ(made.id("/user_id"), agent.id);
    EXPECT_EQ(
        here().run("SELECT person_id FROM feedback_reports WHERE id = '" + made.id().str() + "'"),
        owner.id.str()
    );
}

}  // namespace
}  // namespace svc::test

#include "tests/unit/automations/script_fixture.hpp"

/// What a run gets and leaves behind.
namespace svc::test {

TEST(Answers, ARefusalSaysWhatIsWrongWithWhat) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.after("note.created", function()
  local _, refusal = svc.leave_mark{text = "", colour = "red"}
  svc.log(refusal.message)
end))");
    scripts.deliver(scripts.event());
    const std::string message = scripts.runs("log->>0");
    EXPECT_TRUE(message.starts_with("text: ")) << message;
    EXPECT_NE(message.find("; colour: "), std::string::npos) << message;
    EXPECT_EQ(scripts.runs("calls->0->>'error'"), message);
}

TEST(Answers, AnEventHasItsSubject) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.after("*", function(event)
  svc.log(event.kind, event.subject and event.subject.title)
end)
svc.before("note.created", function(event)
  if event.subject.title == "bad" then return svc.refuse("bad_note", "No.") end
end))");
    EXPECT_EQ(scripts.invoke("leave_mark", R"({"text":"bad"})").status, 409);
    StoredEvent event = scripts.event();
    scripts.deliver(event);  // all that there is, in changes
    event = scripts.event();
    event.subject = R"({"title":"kept"})";
    scripts.deliver(event);
    event = scripts.event();
    event.kind = "note.touched";
    for (const Uuid& id : {new_uuid(), gone}) {
        event.event_id = new_uuid();
        event.envelope = R"({"object":"event","kind":"note.touched","data":{"id":")" + id.str() +
                         R"(","changes":{},"previous":{"title":"old"}}})";
        scripts.deliver(event);
    }
    EXPECT_EQ(
        scripts.runs("log->>0"),
        "note.created\tmade,note.created\tkept,note.touched\tas it is now,note.touched\tnil"
    );
}

TEST(Answers, ScriptsAreReplacedAsAWhole) {
    ScriptFixture scripts;
    auto& runner = scripts.use(leaves_a_mark);
    const Scripts before = runner.scripts();
    runner.use({});
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.marks(), "");
    EXPECT_EQ(before->size(), 1u) << "a run that has begun keeps its own";
    runner.use(*before);
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.marks(), "m");
}

TEST(Answers, AnEventOfAWorkspaceThatIsGoneIsAnsweredByNobodyAndLeavesNothing) {
    ScriptFixture scripts;
    scripts.use(leaves_a_mark);
    scripts.deliver(scripts.event());
    scripts.fixture.ask("DELETE FROM orgs");
    EXPECT_EQ(scripts.runs("status"), "") << "runs go with their workspace";
    EXPECT_NO_THROW(scripts.deliver(scripts.event()));
    EXPECT_NO_THROW(scripts.deliver(scripts.event(deepest_chain)));
    EXPECT_EQ(scripts.runs("status"), "");
}

}  // namespace svc::test

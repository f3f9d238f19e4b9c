#include "tests/unit/automations/script_fixture.hpp"

/// What a run gets and leaves behind.
namespace svc::test {

TEST(Answers, ARefusalSaysWhatIsWrongWithWhat) {
    ScriptFixture shop;
    auto& runner = shop.use(R"(
svc.after("note.created", function()
  local _, refusal = svc.leave_mark{text = "", colour = "red"}
  svc.log(refusal.message)
end))");
    runner.handle(shop.event());
    const std::string message = shop.runs("log->>0");
    EXPECT_TRUE(message.starts_with("text: ")) << message;
    EXPECT_NE(message.find("; colour: "), std::string::npos) << message;
    EXPECT_EQ(shop.runs("calls->0->>'error'"), message);
}

TEST(Answers, AnEventHasItsSubject) {
    ScriptFixture shop;
    auto& runner = shop.use(R"(
svc.after("*", function(event)
  svc.log(event.kind, event.subject and event.subject.title)
end)
svc.before("note.created", function(event)
  if event.subject.title == "bad" then return svc.refuse("bad_note", "No.") end
end))");
    EXPECT_EQ(shop.invoke("leave_mark", R"({"text":"bad"})").status, 409);
    StoredEvent event = shop.event();
    runner.handle(event);  // all that there is, in changes
    event = shop.event();
    event.subject = R"({"title":"kept"})";
    runner.handle(event);
    event = shop.event();
    event.kind = "note.touched";
    for (const Uuid& id : {new_uuid(), gone}) {
        event.event_id = new_uuid();
        event.envelope = R"({"object":"event","kind":"note.touched","data":{"id":")" + id.str() +
                         R"(","changes":{},"previous":{"title":"old"}}})";
        runner.handle(event);
    }
    EXPECT_EQ(
        shop.runs("log->>0"),
        "note.created\tmade,note.created\tkept,note.touched\tas it is now,note.touched\tnil"
    );
}

TEST(Answers, ScriptsAreReplacedAsAWhole) {
    ScriptFixture shop;
    auto& runner = shop.use(leaves_a_mark);
    const Scripts before = runner.scripts();
    runner.use({});
    runner.handle(shop.event());
    EXPECT_EQ(shop.marks(), "");
    EXPECT_EQ(before->size(), 1u) << "a run that has begun keeps its own";
    runner.use(*before);
    runner.handle(shop.event());
    EXPECT_EQ(shop.marks(), "m");
}

TEST(Answers, AnEventOfAWorkspaceThatIsGoneIsAnsweredByNobodyAndLeavesNothing) {
    ScriptFixture shop;
    auto& runner = shop.use(leaves_a_mark);
    runner.handle(shop.event());
    shop.fixture.ask("DELETE FROM orgs");
    EXPECT_EQ(shop.runs("status"), "") << "runs go with their workspace";
    EXPECT_NO_THROW(runner.handle(shop.event()));
    EXPECT_NO_THROW(runner.handle(shop.event(deepest_chain)));
    EXPECT_EQ(shop.runs("status"), "");
}

}  // namespace svc::test

#include "modules/automations/engine/replies.hpp"
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

TEST(Answers, AWriteWhoseAnswerIsTooLongIsSaidToBeDone) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.after("note.created", function()
  local note, refusal = svc.leave_long_mark{text = "m"}
  svc.log(note.id, note.truncated, note.title, refusal)
end))");
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.marks(), "m");
    EXPECT_EQ(scripts.runs("status || ' ' || (calls->0->>'status')"), "succeeded 201");
    EXPECT_EQ(scripts.runs("log->>0"), scripts.runs("calls->0->>'target_id'") + "\ttrue\tnil\tnil");
}

TEST(Answers, AReadThatIsTooLongIsRefusedAndRecordedAsThat) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.after("note.created", function()
  local note, refusal = svc.get_long_note{length = 3 << 20}
  svc.log(note, refusal.status, refusal.code)
end))");
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.runs("log->>0"), "nil\t413\trequest_too_large");
    EXPECT_EQ(
        scripts.runs("status || ' ' || (calls->0->>'status') || ' ' || (calls->0->>'outcome')"),
        "refused 413 refused"
    );
}

TEST(Answers, APageAsLongAsTheServerMakesThemIsRead) {
    ScriptFixture scripts;
    const auto length = std::to_string(page_bytes + longest_record - 1'000);
    scripts.use(
        "svc.after('note.created', function() svc.log(#svc.get_long_note{length = " + length +
        "}.title) end)"
    );
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.runs("log->>0"), length);
}

TEST(Answers, ARefusalsLongMessageIsCutBehindAWholeCharacter) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.before("note.created", function()
  return svc.refuse("no", "x" .. ("\u{e4}"):rep(600))
end))");
    const auto refused = scripts.invoke("leave_mark", R"({"text":"m"})");
    const auto message = boost::json::parse(refused.body).as_object().at("message").as_string();
    EXPECT_EQ(message.size(), 999u);
    EXPECT_TRUE(message.starts_with("x\u00e4")) << message;
    EXPECT_TRUE(message.ends_with("\u00e4")) << message;
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

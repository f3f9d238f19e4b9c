#include "tests/unit/automations/script_fixture.hpp"

namespace svc::test {

TEST(Runner, AScriptActsAsItselfAndItsChangesNameTheirCause) {
    ScriptFixture shop;
    const StoredEvent event = shop.event(1);
    shop.use(leaves_a_mark).handle(event);
    EXPECT_EQ(shop.marks(), "m");
    EXPECT_EQ(shop.runs("status || ' ' || depth || ' ' || script"), "succeeded 1 script0.lua");
    EXPECT_EQ(shop.runs("log"), R"(["m"])");
    EXPECT_EQ(
        shop.runs("(calls->0->>'operation') || ' ' || (calls->0->>'outcome') || ' ' || "
                  "(calls->0->>'status') || ' ' || (calls->0->'arguments'->>'text')"),
        "leave_mark done 201 m"
    );
    EXPECT_NE(shop.runs("calls->0->>'target_id'"), "");
    const std::string script = shop.runner->scripts()->front().id.str();
    EXPECT_EQ(
        shop.fixture.ask("SELECT actor FROM outbox"),
        R"({"principal_type":"automation","id":")" + script +
            R"(","name":"script0.lua","token_id":null,"on_behalf_of_user_id":null,)"
            R"("via":"automation"})"
    );
    EXPECT_EQ(
        shop.fixture.ask("SELECT cause FROM outbox"),
        R"({"event_id":")" + event.event_id.str() + R"(","automation_id":")" + script +
            R"(","depth":2})"
    );
}

TEST(Runner, AnEventThatComesTwiceIsAnsweredOnce) {
    ScriptFixture shop;
    const StoredEvent event = shop.event();
    auto& runner = shop.use(leaves_a_mark);
    runner.handle(event);
    runner.handle(event);
    EXPECT_EQ(shop.marks(), "m");
    runner.handle(shop.event());
    EXPECT_EQ(shop.marks(), "m,m");
    EXPECT_EQ(shop.runs("status"), "succeeded,succeeded");
}

TEST(Runner, ARunThatACrashCutShortIsTakenUpAgain) {
    ScriptFixture shop;
    const StoredEvent event = shop.event();
    auto& runner = shop.use(leaves_a_mark);
    const RunKey key{runner.scripts()->front(), event.org_id, event.event_id, event.kind, 0};
    const auto begun = begin_run(shop.kernel, key);
    ASSERT_TRUE(begun);
    runner.handle(event);
    EXPECT_EQ(shop.marks(), "m");
    EXPECT_EQ(shop.runs("id || ' ' || status"), begun->str() + " succeeded");
}

TEST(Runner, AFailureIsRecordedAndToldAndNotRepeated) {
    ScriptFixture shop;
    const StoredEvent event = shop.event();
    auto& runner = shop.use(R"(
svc.after("note.*", function(event)
  svc.log("so far")
  svc.leave_mark{text = "m"}
  error("no further")
end))");
    runner.handle(event);
    runner.handle(event);
    EXPECT_EQ(shop.marks(), "m");
    EXPECT_EQ(
        shop.runs("status || ' ' || error || ' ' || log"),
        R"(failed script0.lua:5: no further ["so far"])"
    );
    const auto told = shop.fixture.ask(
        "SELECT kind || ' ' || depth || ' ' || (cause::json->>'event_id') || ' ' || "
        "(changes::json->>'error') FROM outbox WHERE kind LIKE 'automation%'"
    );
    EXPECT_EQ(
        told, "automation.run_failed 1 " + event.event_id.str() + " script0.lua:5: no further"
    );
}

TEST(Runner, WhatAScriptMayNotCallIsRefusedToItAlone) {
    ScriptFixture shop;
    auto& runner = shop.use(R"(
svc.after("note.created", function()
  for _, name in ipairs{"hidden_mark", "owners_mark", "no_such_thing", "leave_mark"} do
    local _, refusal = svc.call(name, {text = ""})
    svc.log(name, refusal.status, refusal.code)
  end
end))");
    runner.handle(shop.event());
    EXPECT_EQ(shop.marks(), "");
    EXPECT_EQ(
        shop.runs("log"),
        R"(["hidden_mark\t404\tobject_not_found","owners_mark\t403\trestricted_resource",)"
        R"("no_such_thing\t404\tobject_not_found","leave_mark\t422\tvalidation_error"])"
    );
    EXPECT_EQ(shop.runs("calls->1->>'outcome'"), "refused");
    EXPECT_EQ(shop.runs("status"), "refused") << "though the script came to its end";
    EXPECT_EQ(shop.runner->counts().refused_calls, 4u);
}

TEST(Runner, AChainOfAutomationsEnds) {
    ScriptFixture shop;
    auto& runner = shop.use(leaves_a_mark);
    {
        std::vector<Consumer> consumers{
            {"automations", [&](const StoredEvent& event) { runner.handle(event); }}};
        events::Consumers readers(*shop.kernel.impl().database, consumers);
        events::Sequencer sequencer(*shop.kernel.impl().database, {[&](auto batch) {
            readers.wake(batch);
        }});
        ASSERT_TRUE(eventually([&] { return readers.load().front().working; }));
        ASSERT_EQ(shop.invoke("leave_mark", R"({"text":"first"})").status, 201);
        ASSERT_TRUE(eventually([&] { return shop.runs("status").ends_with("skipped"); }));
    }
    EXPECT_EQ(shop.runs("status || depth"), "succeeded0,succeeded1,succeeded2,skipped3");
    EXPECT_EQ(shop.marks(), "first,m,m,m");
}

TEST(Runner, ABeforeScriptRefusesWithItsOwnCode) {
    ScriptFixture shop;
    shop.use(R"(
svc.before("note.created", function(event)
  if event.data.changes.title == "bad" then
    return svc.refuse("no_bad_notes", "Notes are good here.")
  end
end))");
    EXPECT_EQ(shop.invoke("leave_mark", R"({"text":"good"})").status, 201);
    const Invoked refused = shop.invoke("leave_mark", R"({"text":"bad"})");
    EXPECT_EQ(refused.status, 409);
    const auto body = boost::json::parse(refused.body).as_object();
    EXPECT_EQ(body.at("code").as_string(), "no_bad_notes");
    EXPECT_EQ(body.at("message").as_string(), "Notes are good here.");
    EXPECT_EQ(shop.marks(), "good");
    EXPECT_EQ(shop.runner->counts().refusals, 1u);
}

TEST(Runner, ABeforeScriptCannotKeepARightFromBeingTakenAway) {
    ScriptFixture shop;
    shop.use("svc.before('*', function() return svc.refuse('never', 'Nothing changes here.') end)");
    EXPECT_EQ(shop.invoke("take_rights", R"({"text":"x"})").status, 200);
    EXPECT_EQ(shop.invoke("leave_mark", R"({"text":"x"})").status, 409);
}

TEST(Runner, ABeforeScriptThatFailsHasNoSayAndIsRecorded) {
    ScriptFixture shop;
    shop.use(
        "svc.before('*', function() while true do end end)",
        "svc.before('note.*', function() error('broken') end)"
    );
    EXPECT_EQ(shop.invoke("leave_mark", R"({"text":"good"})").status, 201);
    shop.runner->write_down();
    EXPECT_EQ(shop.marks(), "good");
    EXPECT_EQ(
        shop.runs("script || ' ' || status || ' ' || kind"),
        "script0.lua failed note.created,script1.lua failed note.created"
    );
    EXPECT_EQ(shop.runner->counts().failures, 2u);
}

TEST(Runner, OldRunsAreDropped) {
    ScriptFixture shop;
    auto& runner = shop.use(leaves_a_mark);
    runner.handle(shop.event());
    shop.fixture.ask("UPDATE automation_runs SET created_time = now() - interval '31 days'");
    runner.handle(shop.event());
    drop_old_runs(shop.kernel, 30);
    EXPECT_EQ(shop.runs("status"), "succeeded");
}

TEST(Runner, TheCostOfAnAnsweredEventIsReported) {
    ScriptFixture shop;
    auto& runner = shop.use(leaves_a_mark);
    runner.handle(shop.event());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) runner.handle(shop.event());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("an event answered with one call, recorded: %.2f ms\n", took.count() / 50);
    EXPECT_LT(took.count() / 50, 500);
}

}  // namespace svc::test

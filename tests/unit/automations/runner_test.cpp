#include "tests/unit/automations/script_fixture.hpp"

namespace svc::test {

TEST(Runner, AScriptActsAsItselfAndItsChangesNameTheirCause) {
    ScriptFixture scripts;
    const StoredEvent event = scripts.event(1);
    scripts.use(leaves_a_mark);
    scripts.deliver(event);
    EXPECT_EQ(scripts.marks(), "m");
    EXPECT_EQ(scripts.runs("status || ' ' || depth || ' ' || script"), "succeeded 1 script0.lua");
    EXPECT_EQ(scripts.runs("log"), R"(["m"])");
    EXPECT_EQ(
        scripts.runs("(calls->0->>'operation') || ' ' || (calls->0->>'outcome') || ' ' || "
                     "(calls->0->>'status') || ' ' || (calls->0->'arguments'->>'text')"),
        "leave_mark done 201 m"
    );
    EXPECT_NE(scripts.runs("calls->0->>'target_id'"), "");
    const std::string script = scripts.runner->scripts()->front().id.str();
    EXPECT_EQ(
        scripts.fixture.ask(
            "SELECT concat_ws(' ', actor_type, actor_id, actor_name, actor_token_id, "
            "on_behalf_of_user_id, via) FROM event_log"
        ),
        "automation " + script + " script0.lua automation"
    );
    EXPECT_EQ(
        scripts.fixture.ask("SELECT cause FROM event_log"),
        R"({"event_id":")" + event.event_id.str() + R"(","automation_id":")" + script +
            R"(","depth":2})"
    );
}

TEST(Runner, AnEventThatComesTwiceIsAnsweredOnce) {
    ScriptFixture scripts;
    const StoredEvent event = scripts.event();
    scripts.use(leaves_a_mark);
    scripts.deliver(event);
    scripts.deliver(event);
    EXPECT_EQ(scripts.marks(), "m");
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.marks(), "m,m");
    EXPECT_EQ(scripts.runs("status"), "succeeded,succeeded");
}

TEST(Runner, ARunThatACrashCutShortIsTakenUpAgain) {
    ScriptFixture scripts;
    const StoredEvent event = scripts.event();
    auto& runner = scripts.use(leaves_a_mark);
    const RunKey key{runner.scripts()->front(), event.org_id, event.event_id, event.kind, 0};
    const auto begun = begin_run(scripts.kernel, key);
    ASSERT_TRUE(begun);
    scripts.deliver(event);
    EXPECT_EQ(scripts.marks(), "m");
    EXPECT_EQ(scripts.runs("id || ' ' || status"), begun->str() + " succeeded");
}

TEST(Runner, AFailureIsRecordedAndToldAndNotRepeated) {
    ScriptFixture scripts;
    const StoredEvent event = scripts.event();
    scripts.use(R"(
svc.after("note.*", function(event)
  svc.log("so far")
  svc.leave_mark{text = "m"}
  error("no further")
end))");
    scripts.deliver(event);
    scripts.deliver(event);
    EXPECT_EQ(scripts.marks(), "m");
    EXPECT_EQ(
        scripts.runs("status || ' ' || error || ' ' || log"),
        R"(failed script0.lua:5: no further ["so far"])"
    );
    const auto emitted = scripts.fixture.ask(
        "SELECT kind || ' ' || depth || ' ' || (cause::json->>'event_id') || ' ' || "
        "(changes::json->>'error') FROM event_log WHERE kind LIKE 'automation%'"
    );
    EXPECT_EQ(
        emitted, "automation.run_failed 1 " + event.event_id.str() + " script0.lua:5: no further"
    );
}

TEST(Runner, WhatAScriptMayNotCallIsRefusedToItAlone) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.after("note.created", function()
  for _, name in ipairs{"hidden_mark", "owners_mark", "no_such_thing", "leave_mark"} do
    local _, refusal = svc.call(name, {text = ""})
    svc.log(name, refusal.status, refusal.code)
  end
end))");
    scripts.deliver(scripts.event());
    EXPECT_EQ(scripts.marks(), "");
    EXPECT_EQ(
        scripts.runs("log"),
        R"(["hidden_mark\t404\tobject_not_found","owners_mark\t403\trestricted_resource",)"
        R"("no_such_thing\t404\tobject_not_found","leave_mark\t422\tvalidation_error"])"
    );
    EXPECT_EQ(scripts.runs("calls->1->>'outcome'"), "refused");
    EXPECT_EQ(scripts.runs("status"), "refused") << "though the script came to its end";
    EXPECT_EQ(scripts.runner->counts().refused_calls, 4u);
}

TEST(Runner, AChainOfAutomationsEnds) {
    ScriptFixture scripts;
    auto& runner = scripts.use(leaves_a_mark);
    {
        const Consumer automations{
            .name = "automations",
            .subscribers = [&](const StoredEvent& event) { return runner.subscribers(event); },
            .deliver = [&](const std::string& script,
                           const StoredEvent& event) { runner.deliver(script, event); },
        };
        jobs::Pool jobs;
        events::Consumers readers(*scripts.kernel.impl().database, jobs, {automations});
        jobs.start(*scripts.kernel.impl().database);
        readers.start();
        events::Sequencer sequencer(*scripts.kernel.impl().database, {[&](auto batch) {
            readers.wake(batch);
        }});
        ASSERT_TRUE(eventually([&] { return readers.load().front().working; }));
        ASSERT_EQ(scripts.invoke("leave_mark", R"({"text":"first"})").status, 201);
        ASSERT_TRUE(eventually([&] { return scripts.runs("status").ends_with("skipped"); }));
        sequencer.stop();
        readers.stop();
        jobs.stop();
    }
    EXPECT_EQ(scripts.runs("status || depth"), "succeeded0,succeeded1,succeeded2,skipped3");
    EXPECT_EQ(scripts.marks(), "first,m,m,m");
}

TEST(Runner, ABeforeScriptRefusesWithItsOwnCode) {
    ScriptFixture scripts;
    scripts.use(R"(
svc.before("note.created", function(event)
  if event.data.changes.title == "bad" then
    return svc.refuse("no_bad_notes", "Notes are good here.")
  end
end))");
    EXPECT_EQ(scripts.invoke("leave_mark", R"({"text":"good"})").status, 201);
    const Invoked refused = scripts.invoke("leave_mark", R"({"text":"bad"})");
    EXPECT_EQ(refused.status, 409);
    const auto body = boost::json::parse(refused.body).as_object();
    EXPECT_EQ(body.at("code").as_string(), "no_bad_notes");
    EXPECT_EQ(body.at("message").as_string(), "Notes are good here.");
    EXPECT_EQ(scripts.marks(), "good");
    EXPECT_EQ(scripts.runner->counts().refusals, 1u);
}

TEST(Runner, ABeforeScriptCannotKeepARightFromBeingTakenAway) {
    ScriptFixture scripts;
    scripts.use(
        "svc.before('*', function() return svc.refuse('never', 'Nothing changes here.') end)"
    );
    EXPECT_EQ(scripts.invoke("take_rights", R"({"text":"x"})").status, 200);
    EXPECT_EQ(scripts.invoke("leave_mark", R"({"text":"x"})").status, 409);
}

TEST(Runner, ABeforeScriptThatFailsHasNoSayAndIsRecorded) {
    ScriptFixture scripts;
    scripts.use(
        "svc.before('*', function() while true do end end)",
        "svc.before('note.*', function() error('broken') end)"
    );
    EXPECT_EQ(scripts.invoke("leave_mark", R"({"text":"good"})").status, 201);
    scripts.runner->write_down();
    EXPECT_EQ(scripts.marks(), "good");
    EXPECT_EQ(
        scripts.runs("script || ' ' || status || ' ' || kind"),
        "script0.lua failed note.created,script1.lua failed note.created"
    );
    EXPECT_EQ(scripts.runner->counts().failures, 2u);
}

TEST(Runner, OldRunsAreDropped) {
    ScriptFixture scripts;
    scripts.use(leaves_a_mark);
    scripts.deliver(scripts.event());
    scripts.fixture.ask("UPDATE automation_runs SET created_time = now() - interval '31 days'");
    scripts.deliver(scripts.event());
    drop_old_runs(scripts.kernel, 30);
    EXPECT_EQ(scripts.runs("status"), "succeeded");
}

TEST(Runner, TheCostOfAnAnsweredEventIsReported) {
    ScriptFixture scripts;
    scripts.use(leaves_a_mark);
    scripts.deliver(scripts.event());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) scripts.deliver(scripts.event());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("an event answered with one call, recorded: %.2f ms\n", took.count() / 50);
    EXPECT_LT(took.count() / 50, 500);
}

}  // namespace svc::test

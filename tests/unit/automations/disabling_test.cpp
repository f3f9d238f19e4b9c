#include "modules/automations/engine/disabling.hpp"
#include "tests/unit/automations/script_fixture.hpp"

/// Scripts that fail over and over.
namespace svc::test {
namespace {

const std::string fails_at_will = R"(
svc.after("note.created", function(event)
  if event.data.changes.title == "bad" then error("out of luck") end
  svc.leave_mark{text = "m"}
end))";

class Disabling : public testing::Test {
protected:
    Disabling() { scripts.most_failures = 3; }

    void happens(bool well) { happens(well, scripts.org); }
    void happens(bool well, const Uuid& org) {
        StoredEvent event = scripts.event();
        event.org_id = org;
        if (!well)
            event.envelope = R"({"object":"event","kind":"note.created","data":{"id":"n1",)"
                             R"("changes":{"title":"bad"},"previous":{}}})";
        scripts.deliver(event);
    }
    void fails(int times) {
        for (int i = 0; i < times; ++i) happens(false);
    }
    std::string disabled() {
        return scripts.fixture.ask(
            "SELECT count(*) FROM event_log WHERE kind = 'automation.disabled'"
        );
    }
    std::string state() {
        return scripts.fixture.ask(
            "SELECT coalesce(string_agg(failures || ' ' || (disabled_at IS NOT NULL), ','), '') "
            "FROM automation_states"
        );
    }

    ScriptFixture scripts;
};

TEST_F(Disabling, AScriptThatFailsSoOftenInARowAnswersNoMoreEvents) {
    scripts.use(fails_at_will);
    fails(2);
    EXPECT_EQ(disabled(), "0");
    EXPECT_EQ(state(), "2 false");
    fails(1);
    EXPECT_EQ(disabled(), "1");
    const Script& script = scripts.runner->scripts()->front();
    const auto event = scripts.fixture.ask(
        "SELECT object_id || ' ' || actor_type || ' ' || changes FROM "
        "event_log WHERE kind = 'automation.disabled'"
    );
    EXPECT_EQ(event.find(script.id.str() + " system "), 0u) << event;
    EXPECT_NE(event.find(R"("consecutive_failures":3)"), event.npos) << event;
    EXPECT_NE(
        event.find("3 runs in this workspace failed one after the other, the last with: "
                   "script0.lua:3: out of luck"),
        event.npos
    ) << event;
    happens(true);
    fails(2);
    EXPECT_EQ(scripts.marks(), "");
    EXPECT_EQ(scripts.runs("status"), "failed,failed,failed") << "it costs no run any more";
    EXPECT_EQ(disabled(), "1");
}

TEST_F(Disabling, ARunThatGoesWellBeginsTheCountAnew) {
    scripts.use(fails_at_will);
    for (int i = 0; i < 3; ++i) {
        fails(2);
        happens(true);
        EXPECT_EQ(state(), "");
    }
    EXPECT_EQ(disabled(), "0");
    EXPECT_EQ(scripts.marks(), "m,m,m");
}

TEST_F(Disabling, IsForOneWorkspaceAndOneScript) {
    const Uuid other = new_uuid();
    scripts.fixture.ask("INSERT INTO orgs VALUES ('" + other.str() + "')");
    scripts.use(fails_at_will, leaves_a_mark);
    fails(3);
    EXPECT_EQ(scripts.marks(), "m,m,m") << "of the other script";
    happens(true, other);
    EXPECT_EQ(scripts.marks(), "m,m,m,m,m");
    happens(true);
    EXPECT_EQ(scripts.marks(), "m,m,m,m,m,m");
}

TEST_F(Disabling, AChangedScriptRunsAgain) {
    scripts.use(fails_at_will);
    fails(3);
    scripts.use(fails_at_will + " -- mended");
    happens(true);
    EXPECT_EQ(scripts.marks(), "m");
    EXPECT_EQ(state(), "");
    fails(3);
    EXPECT_EQ(disabled(), "2");
    EXPECT_EQ(state(), "3 true");
}

TEST_F(Disabling, ManyRunsAtTheSameMomentDisableItOnce) {
    scripts.use(fails_at_will);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([this] { happens(false); });
    for (auto& each : threads) each.join();
    EXPECT_EQ(disabled(), "1");
}

TEST_F(Disabling, IsLeftOutWhereItIsNotWanted) {
    scripts.most_failures = 0;
    scripts.use(fails_at_will);
    fails(5);
    happens(true);
    EXPECT_EQ(scripts.marks(), "m");
    EXPECT_EQ(disabled(), "0");
}

// Whoever could make a script fail could have a rule end otherwise.
TEST_F(Disabling, WhatMayRefuseIsAskedAllTheSame) {
    scripts.use(R"(
svc.after("note.created", function() error("out of luck") end)
svc.before("note.created", function() return svc.refuse("no", "Not today") end))");
    fails(3);
    EXPECT_EQ(disabled(), "1");
    EXPECT_EQ(scripts.invoke("leave_mark", R"({"text": "m"})").status, 409);
}

}  // namespace
}  // namespace svc::test

#include "modules/automations/engine/runner.hpp"

#include "core/kernel_impl.hpp"
#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "tests/support/places.hpp"
#include "tests/unit/automations/sandboxes.hpp"
#include "tests/unit/events/world.hpp"

#include <boost/json.hpp>

#include <fstream>

namespace svc::test {

using namespace automations;

namespace {

// ------------------------------------------------------------ operations to be called

struct MarkRequest {
    std::string text;
};
SVC_RECORD(MarkRequest, (text, "", length(1, 100)));

/// Leaves a mark, and an event that says so.
Note mark(Call& call, const MarkRequest& in) {
    static constexpr Sql add{"test.add_mark", "INSERT INTO marks VALUES ($1, $2)"};
    Note note;
    note.id = new_uuid();
    note.title = in.text;
    const Event event = created(note_created, note);
    call.ask(event);
    call.tx().queue(add, call.org(), in.text);
    call.tell(event);
    return note;
}
const Operation leave_mark{
    .name = "leave_mark",
    .route = "POST /v1/marks",
    .summary = "Leave a mark.",
    .status = 201,
    .handler = mark,
};
const Operation hidden_mark{
    .name = "hidden_mark",
    .route = "POST /v1/hidden-marks",
    .summary = "Not for scripts.",
    .tool = false,
    .handler = mark,
};
const Operation owners_mark{
    .name = "owners_mark",
    .route = "POST /v1/owners-marks",
    .summary = "For owners.",
    .access = Access::owner,
    .handler = mark,
};

/// Asks about the events by which others lose a right.
Note take_away(Call& call, const MarkRequest& in) {
    static constexpr EventKind kinds[]{
        {"agent.disabled", "agent", "Off."},
        {"agent.deleted", "agent", "Gone."},
        {"token.revoked", "token", "Over."},
        {"member.removed", "member", "Left."},
    };
    Note note;
    note.id = new_uuid();
    note.title = in.text;
    for (const EventKind& kind : kinds) call.ask(created(kind, note));
    return note;
}
const Operation take_rights{
    .name = "take_rights",
    .route = "POST /v1/taken-rights",
    .summary = "Take rights away.",
    .handler = take_away,
};

// ------------------------------------------------------------ a kernel around them

std::string migration() {
    std::ifstream file(source_folder() / "modules/automations/migrations/0001_automation_runs.sql");
    return {std::istreambuf_iterator<char>(file), {}};
}

class Workshop {
public:
    Workshop() : kernel(std::make_unique<Kernel::Impl>()) {
        auto steps = db::unpack_migrations("kernel", svc_kernel_migrations);
        steps.push_back({"automations", 1, "0001_automation_runs.sql", migration()});
        kernel.impl().database = std::make_unique<db::Database>(World::settings_for(world.url));
        kernel.impl().database->open();
        db::migrate(*kernel.impl().database, steps);
        static constexpr Sql make{
            "test.make_marks", "CREATE TABLE marks (org_id uuid NOT NULL, text text NOT NULL)"};
        world.database.transact(Tx::Mode::write, [](Tx& tx) { tx.run(make); });
        kernel.impl().opening = "test";
        kernel.add(leave_mark);
        kernel.add(hidden_mark);
        kernel.add(owners_mark);
        kernel.add(take_rights);
    }

    template <class... Source>
    Runner& use(const Source&... source) {
        return use_all({source...});
    }
    Runner& use_all(const std::vector<std::string>& sources) {
        const Sandbox sandbox(sandbox_program(), tight());
        std::vector<Script> scripts;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const auto file = folder / ("script" + std::to_string(i) + ".lua");
            std::ofstream(file) << sources[i];
            scripts.push_back(load_script(file, sandbox));
        }
        runner = std::make_unique<Runner>(kernel, std::move(scripts), sandbox, sandbox);
        kernel.before("*", [this](Call& call, const Event& event) {
            return runner->ask(call, event);
        });
        return *runner;
    }

    StoredEvent event(std::int64_t depth = 0) const {
        StoredEvent stored;
        stored.event_id = new_uuid();
        stored.org_id = org;
        stored.kind = "note.created";
        stored.depth = depth;
        stored.envelope = R"({"object":"event","kind":"note.created","data":{"id":"n1"}})";
        return stored;
    }
    Invoked invoke(const std::string& operation, const std::string& arguments) {
        Caller caller = someone(org);
        return kernel.invoke(caller, {.operation = operation, .arguments = arguments});
    }
    std::string marks() const {
        return world.ask("SELECT coalesce(string_agg(text, ',' ORDER BY text), '') FROM marks");
    }
    std::string runs(const std::string& what) const {
        return world.ask(
            "SELECT coalesce(string_agg((" + what +
            ")::text, ',' ORDER BY created_time), '') FROM automation_runs"
        );
    }

    World world;
    Kernel kernel;
    Uuid org = new_uuid();
    std::unique_ptr<Runner> runner;
    std::filesystem::path folder = make_folder();

    ~Workshop() { std::filesystem::remove_all(folder); }

private:
    static std::filesystem::path make_folder() {
        std::string name = std::filesystem::temp_directory_path() / "scripts-XXXXXX";
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        return name;
    }
};

const std::string leaves_a_mark = R"(
svc.after("note.created", function(event)
  local note, refusal = svc.leave_mark{text = "m"}
  svc.log(note and note.title or refusal.message)
end))";

}  // namespace

TEST(Runner, AScriptActsAsItselfAndItsChangesNameTheirCause) {
    Workshop shop;
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
    const std::string script = shop.runner->scripts().front().id.str();
    EXPECT_EQ(
        shop.world.ask("SELECT actor FROM outbox"),
        R"({"principal_type":"automation","id":")" + script +
            R"(","name":"script0.lua","token_id":null,"on_behalf_of_user_id":null,)"
            R"("via":"automation"})"
    );
    EXPECT_EQ(
        shop.world.ask("SELECT cause FROM outbox"),
        R"({"event_id":")" + event.event_id.str() + R"(","automation_id":")" + script +
            R"(","depth":2})"
    );
}

TEST(Runner, AnEventThatComesTwiceIsAnsweredOnce) {
    Workshop shop;
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
    Workshop shop;
    const StoredEvent event = shop.event();
    auto& runner = shop.use(leaves_a_mark);
    const RunKey key{runner.scripts().front(), event.org_id, event.event_id, event.kind, 0};
    const auto begun = begin_run(shop.kernel, key);
    ASSERT_TRUE(begun);
    runner.handle(event);
    EXPECT_EQ(shop.marks(), "m");
    EXPECT_EQ(shop.runs("id || ' ' || status"), begun->str() + " succeeded");
}

TEST(Runner, AFailureIsRecordedAndToldAndNotRepeated) {
    Workshop shop;
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
    const auto told = shop.world.ask(
        "SELECT kind || ' ' || depth || ' ' || (cause::json->>'event_id') || ' ' || "
        "(changes::json->>'error') FROM outbox WHERE kind LIKE 'automation%'"
    );
    EXPECT_EQ(
        told, "automation.run_failed 1 " + event.event_id.str() + " script0.lua:5: no further"
    );
}

TEST(Runner, WhatAScriptMayNotCallIsRefusedToItAlone) {
    Workshop shop;
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
}

TEST(Runner, AChainOfAutomationsEnds) {
    Workshop shop;
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
    Workshop shop;
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
    Workshop shop;
    shop.use("svc.before('*', function() return svc.refuse('never', 'Nothing changes here.') end)");
    EXPECT_EQ(shop.invoke("take_rights", R"({"text":"x"})").status, 200);
    EXPECT_EQ(shop.invoke("leave_mark", R"({"text":"x"})").status, 409);
}

TEST(Runner, ABeforeScriptThatFailsHasNoSayAndIsRecorded) {
    Workshop shop;
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
    Workshop shop;
    auto& runner = shop.use(leaves_a_mark);
    runner.handle(shop.event());
    shop.world.ask("UPDATE automation_runs SET created_time = now() - interval '31 days'");
    runner.handle(shop.event());
    drop_old_runs(shop.kernel, 30);
    EXPECT_EQ(shop.runs("status"), "succeeded");
}

TEST(Runner, TheCostOfAnAnsweredEventIsReported) {
    Workshop shop;
    auto& runner = shop.use(leaves_a_mark);
    runner.handle(shop.event());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) runner.handle(shop.event());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("an event answered with one call, recorded: %.2f ms\n", took.count() / 50);
    EXPECT_LT(took.count() / 50, 500);
}

}  // namespace svc::test

#pragma once

#include "modules/automations/engine/runner.hpp"

#include "core/kernel_impl.hpp"
#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "tests/support/places.hpp"
#include "tests/unit/automations/sandboxes.hpp"
#include "tests/unit/events/events_fixture.hpp"

#include <boost/json.hpp>

#include <fstream>

namespace svc::test {

using namespace automations;

// ------------------------------------------------------------ operations to be called

struct MarkRequest {
    std::string text;
};
SVC_RECORD(MarkRequest, (text, "", length(1, 100)));

/// Leaves a mark, and an event that says so.
inline Note mark(Call& call, const MarkRequest& in) {
    static constexpr Sql add{"test.add_mark", "INSERT INTO marks VALUES ($1, $2)"};
    Note note;
    note.id = new_uuid();
    note.title = in.text;
    const Event event = created(note_created, note);
    call.check(event);
    call.tx().queue(add, call.org(), in.text);
    call.emit(event);
    return note;
}
inline const Operation leave_mark{
    .name = "leave_mark",
    .route = "POST /v1/marks",
    .summary = "Leave a mark.",
    .status = 201,
    .handler = mark,
};
inline const Operation hidden_mark{
    .name = "hidden_mark",
    .route = "POST /v1/hidden-marks",
    .summary = "Not for scripts.",
    .tool = false,
    .handler = mark,
};
inline const Operation owners_mark{
    .name = "owners_mark",
    .route = "POST /v1/owners-marks",
    .summary = "For owners.",
    .access = Access::owner,
    .handler = mark,
};

/// Leaves so many marks, each with an event of its own.
struct MarksRequest {
    std::int64_t count = 1;
};
SVC_RECORD(MarksRequest, (count));

inline void mark_often(Call& call, const MarksRequest& in) {
    for (std::int64_t i = 0; i < in.count; ++i) mark(call, {"one of many"});
}
inline const Operation leave_marks{
    .name = "leave_marks",
    .route = "POST /v1/many-marks",
    .summary = "Leave many marks.",
    .status = 204,
    .handler = mark_often,
};

/// Leaves a mark and answers more than a script takes.
inline Note mark_at_length(Call& call, const MarkRequest& in) {
    Note note = mark(call, in);
    note.title.assign(3 << 20, 'x');
    return note;
}
inline const Operation leave_long_mark{
    .name = "leave_long_mark",
    .route = "POST /v1/long-marks",
    .summary = "Leave a mark.",
    .status = 201,
    .handler = mark_at_length,
};

/// Asks about the events by which others lose a right.
inline Note take_away(Call& call, const MarkRequest& in) {
    static constexpr EventKind kinds[]{
        {.name = "agent.disabled", .object = "agent", .summary = "Off.", .vetoable = false},
        {.name = "member.removed", .object = "member", .summary = "Left.", .vetoable = false},
    };
    Note note;
    note.id = new_uuid();
    note.title = in.text;
    for (const EventKind& kind : kinds) call.check(created(kind, note));
    return note;
}
inline const Operation take_rights{
    .name = "take_rights",
    .route = "POST /v1/taken-rights",
    .summary = "Take rights away.",
    .handler = take_away,
};

/// Reads a note: any but the one that is gone.
struct NoteId {
    Uuid note_id;
};
SVC_RECORD(NoteId, (note_id));

inline const Uuid gone = *Uuid::parse("00000000-0000-7000-8000-00000000dead");

inline Note read(Call&, const NoteId& in) {
    if (in.note_id == gone) not_found("note");
    Note note;
    note.id = in.note_id;
    note.title = "as it is now";
    return note;
}
inline const Operation get_note{
    .name = "get_note",
    .route = "GET /v1/notes/{note_id}",
    .summary = "Read a note.",
    .handler = read,
};
inline const EventKind note_touched{
    "note.touched", "note", "Its subject is read.", &record_of<Note>, 0, Subject::read};

/// A note of so many characters.
struct LengthQuery {
    std::int64_t length = 0;
};
SVC_RECORD(LengthQuery, (length));

inline Note read_at_length(Call&, const LengthQuery& in) {
    Note note;
    note.title.assign(static_cast<std::size_t>(in.length), 'x');
    return note;
}
inline const Operation get_long_note{
    .name = "get_long_note",
    .route = "GET /v1/long-note",
    .summary = "Read a long note.",
    .handler = read_at_length,
};

// ------------------------------------------------------------ a kernel around them

inline std::string migration(const std::string& name) {
    std::ifstream file(source_folder() / "modules/automations/migrations" / name);
    return {std::istreambuf_iterator<char>(file), {}};
}

class ScriptFixture {
public:
    ScriptFixture() : kernel(std::make_unique<Kernel::Impl>()) {
        auto steps = db::unpack_migrations("kernel", svc_kernel_migrations);
        steps.push_back({"orgs", 1, "0001_orgs.sql", R"(
            CREATE TABLE orgs (id uuid PRIMARY KEY, deleted_at timestamptz))"});
        int number = 0;
        for (const std::string name :
             {"0001_automation_runs.sql",
              "0002_keys.sql",
              "0003_automation_states.sql",
              "0004_keys.sql"})
            steps.push_back({"automations", ++number, name, migration(name)});
        kernel.impl().database =
            std::make_unique<db::Database>(EventsFixture::settings_for(fixture.url));
        kernel.impl().database->open();
        db::migrate(*kernel.impl().database, steps);
        static constexpr Sql make{
            "test.make_marks", "CREATE TABLE marks (org_id uuid NOT NULL, text text NOT NULL)"};
        fixture.database.transact(Tx::Mode::write, [](Tx& tx) { tx.run(make); });
        fixture.ask("INSERT INTO orgs VALUES ('" + org.str() + "')");
        kernel.impl().opening = "test";
        kernel.add(note_created);
        kernel.add(note_touched);
        kernel.add(get_note);
        kernel.add(leave_mark);
        kernel.add(leave_marks);
        kernel.add(leave_long_mark);
        kernel.add(get_long_note);
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
        runner = std::make_unique<Runner>(kernel, sandbox, sandbox, most_failures);
        runner->use(std::move(scripts));
        kernel.veto(
            [this](const Call&, const EventKind& kind) { return runner->has_say_in(kind); },
            [this](Call& call, const Event& event) { return runner->check(call, event); }
        );
        return *runner;
    }
    /// Runs every script that answers the event.
    void deliver(const StoredEvent& event) {
        for (const auto& script : runner->subscribers(event)) runner->deliver(script, event);
    }

    StoredEvent event(std::int64_t depth = 0) const {
        StoredEvent stored;
        stored.event_id = new_uuid();
        stored.org_id = org;
        stored.kind = "note.created";
        stored.depth = depth;
        stored.envelope = R"({"object":"event","kind":"note.created","data":{"id":"n1",)"
                          R"("changes":{"title":"made"},"previous":{}}})";
        return stored;
    }
    Invoked invoke(const std::string& operation, const std::string& arguments) {
        Caller caller = someone(org);
        return kernel.invoke(caller, {.operation = operation, .arguments = arguments});
    }
    std::string marks() const {
        return fixture.ask("SELECT coalesce(string_agg(text, ',' ORDER BY text), '') FROM marks");
    }
    std::string runs(const std::string& what) const {
        return fixture.ask(
            "SELECT coalesce(string_agg((" + what +
            ")::text, ',' ORDER BY created_time), '') FROM automation_runs"
        );
    }

    EventsFixture fixture;
    Uuid org = new_uuid();
    std::int64_t most_failures = 0;  ///< of the runner that use() makes
    Kernel kernel;
    std::unique_ptr<Runner> runner;
    std::filesystem::path folder = make_folder();

    ~ScriptFixture() { std::filesystem::remove_all(folder); }

private:
    static std::filesystem::path make_folder() {
        std::string name = std::filesystem::temp_directory_path() / "scripts-XXXXXX";
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        return name;
    }
};

inline const std::string leaves_a_mark = R"(
svc.after("note.created", function(event)
  local note, refusal = svc.leave_mark{text = "m"}
  svc.log(note and note.title or refusal.message)
end))";

}  // namespace svc::test

#include "modules/automations/engine/runner.hpp"

#include "modules/automations/engine/refusals.hpp"
#include "modules/automations/engine/replies.hpp"
#include "modules/automations/engine/subject.hpp"
#include "modules/orgs/api.hpp"

#include <Poco/Logger.h>
#include <boost/json.hpp>

#include <algorithm>

namespace svc::automations {

namespace {

constexpr std::size_t longest_arguments = 4 << 10;  // bytes, in the record of a run
constexpr std::size_t most_failed = 1'000;          // waiting to be recorded
constexpr int most_tries = 10;                      // at recording one

Poco::Logger& log() { return Poco::Logger::get("automations"); }

bool is_past_due(Kernel& kernel, const Uuid& org) {
    const auto* directory = kernel.find<orgs::Directory>();
    bool past_due = false;
    if (directory)
        kernel.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(org, std::nullopt);
            past_due = directory->past_due(tx, org);
        });
    return past_due;
}

/// Operators' scripts act as themselves, with the role of a member.
Caller caller_of(Kernel& kernel, const Script& script, const Uuid& org) {
    Caller caller;
    caller.type = PrincipalType::automation;
    caller.id = script.id;
    caller.name = script.name;
    caller.org_id = org;
    caller.role = OrgRole::member;
    caller.surface = Surface::automation;
    caller.past_due = is_past_due(kernel, org);
    return caller;
}

/// The entry for one call. Of a refusal `reply`, which is the kernel's own JSON or empty, gets a
/// message that says what it is about.
RunCall entry_for(const ScriptCall& call, Reply& reply) {
    RunCall entry;
    entry.operation = call.operation;
    entry.arguments.text =
        call.arguments.size() <= longest_arguments ? call.arguments : R"({"truncated":true})";
    entry.status = reply.status;
    entry.outcome = reply.status < 400   ? CallOutcome::done
                    : reply.status < 500 ? CallOutcome::refused
                                         : CallOutcome::failed;
    auto body = parsed(reply.body);
    if (!body) return entry;
    if (entry.outcome == CallOutcome::done) {
        if (const auto id = text_at(*body, "id")) entry.target_id = Uuid::parse(*id);
        return entry;
    }
    entry.error = reason_in(*body);
    (*body)["message"] = *entry.error;
    reply.body = json::serialize(*body);
    return entry;
}

/// One run's way to the operations.
class Calls {
public:
    Calls(Kernel& kernel, const Script& script, const StoredEvent& event)
        : kernel_(kernel),
          caller_(caller_of(kernel, script, event.org_id)),
          cause_event_(event.event_id),
          depth_(static_cast<int>(event.depth) + 1) {}

    Reply serve(const ScriptCall& call) {
        Reply reply = fitting(carry_out(call), is_read(call.operation));
        entries_.push_back(entry_for(call, reply));
        return reply;
    }
    const std::vector<RunCall>& entries() const { return entries_; }

private:
    bool is_read(const std::string& name) const {
        const Declared* declared = kernel_.find_operation(name);
        return !declared || declared->operation->read_only();
    }

    Reply carry_out(const ScriptCall& call) {
        Invoked invoked = kernel_.invoke(
            caller_,
            {.operation = call.operation,
             .arguments = call.arguments,
             .surface = Surface::automation,
             .cause_event = cause_event_,
             .cause_automation = caller_.id,
             .depth = depth_,
             .may_wait = false}
        );
        return {invoked.status, std::move(invoked.body)};
    }

    Kernel& kernel_;
    const Caller caller_;
    const Uuid cause_event_;
    const int depth_;
    std::vector<RunCall> entries_;
};

// A request that makes many changes waits for before-handlers as long as so many runs may take:
// that is room for hundreds of quick ones, and an end to slow ones.
constexpr int whole_runs = 4;

/// How long one request has waited for before-handlers, whatever number of changes it makes.
struct BeforeTime {
    static constexpr std::string_view name = "automations.BeforeTime";
    std::chrono::steady_clock::duration spent{};
    bool is_end_recorded = false;
};

}  // namespace

Runner::Runner(Kernel& kernel, Sandbox before, Sandbox after, std::int64_t most_failures)
    : kernel_(kernel),
      scripts_(std::make_shared<const std::vector<Script>>()),
      before_(std::move(before)),
      after_(std::move(after)),
      most_failures_(most_failures) {}

void Runner::use(std::vector<Script> scripts) {
    scripts_.set(std::make_shared<const std::vector<Script>>(std::move(scripts)));
}

std::vector<std::string> Runner::subscribers(const StoredEvent& event) const {
    const Scripts scripts = scripts_.get();
    std::vector<std::string> ids;
    for (const Script& script : *scripts)
        if (script.binds_to("after", event.kind)) ids.push_back(script.id.str());
    return ids;
}

void Runner::deliver(std::string_view script_id, const StoredEvent& event) {
    const Scripts scripts = scripts_.get();
    for (const Script& script : *scripts)
        if (script.id.str() == script_id && script.binds_to("after", event.kind))
            run(script, event, with_subject(event.envelope, subject_of(kernel_, event)));
}

void Runner::run(const Script& script, const StoredEvent& event, const std::string& event_text) {
    const RunKey key{script, event.org_id, event.event_id, event.kind, event.depth};
    if (event.depth >= deepest_chain)
        return add_run(
            kernel_,
            key,
            RunStatus::skipped,
            {.error = std::to_string(event.depth) + " automations stand behind the event already"}
        );
    const auto id = begin_run(kernel_, key);
    if (!id) return;
    Calls calls(kernel_, script, event);
    const Ended ended = after_.run(
        {.mode = Mode::after, .name = script.name, .source = script.source, .event = event_text},
        [&](const ScriptCall& call) { return calls.serve(call); }
    );
    end_run(kernel_, key, *id, ended, calls.entries(), most_failures_);
    count(ended);
    const std::string where = "event " + event.event_id.str() + " (" + event.kind + "): ";
    for (const RunCall& call : calls.entries()) {
        if (call.outcome == CallOutcome::done) continue;
        ++counts_.refused_calls;
        log().warning(
            where + script.name + ": " + call.operation + " was answered " +
            std::to_string(call.status.value_or(0)) + ": " + call.error.value_or("")
        );
    }
    if (!ended.error.empty()) log().warning(where + ended.error);
}

bool Runner::has_say_in(const EventKind& kind) const {
    const Scripts scripts = scripts_.get();
    return std::ranges::any_of(*scripts, [&](const Script& script) {
        return script.binds_to("before", kind.name);
    });
}

Verdict Runner::check(Call& call, const Event& event) {
    const Scripts scripts = scripts_.get();
    const auto org = event.org_id ? *event.org_id : call.org();
    auto& time = call.note<BeforeTime>();
    const auto left = [&] {
        return std::chrono::floor<std::chrono::milliseconds>(
            whole_runs * before_.limits().own_time - time.spent
        );
    };
    std::string envelope;
    for (const Script& script : *scripts) {
        if (!script.binds_to("before", event.kind->name)) continue;
        if (left().count() <= 0 && time.is_end_recorded) return allow;
        if (envelope.empty()) envelope = with_subject(envelope_of(call, event), event.subject);
        const auto start = std::chrono::steady_clock::now();
        Ended ended = ask(script, envelope, left());
        time.spent += std::chrono::steady_clock::now() - start;
        count(ended);
        if (ended.refusal) {
            ++counts_.refusals;
            return proper(std::move(*ended.refusal));
        }
        if (ended.error.empty()) continue;
        time.is_end_recorded = left().count() <= 0;
        keep({scripts, &script, org, event.kind->name, std::move(ended)});
    }
    return allow;
}

Ended Runner::ask(
    const Script& script, const std::string& envelope, std::chrono::milliseconds left
) const {
    Ended ended;
    if (left.count() <= 0) {
        ended.error = script.name + ": was not asked, as the request has waited " +
                      std::to_string((whole_runs * before_.limits().own_time).count()) +
                      " ms for scripts";
        return ended;
    }
    try {
        return before_.run(
            {.mode = Mode::before,
             .name = script.name,
             .source = script.source,
             .event = envelope,
             .own_time_left = std::min(left, before_.limits().own_time)}
        );
    } catch (const std::system_error& error) {
        ended.error = script.name + ": cannot be started: " + error.what();
        return ended;
    }
}

void Runner::keep(Failed failed) {
    const std::lock_guard lock(mutex_);
    if (failed_.size() < most_failed) failed_.push_back(std::move(failed));
}

void Runner::write_down() {
    for (;;) {
        std::unique_lock lock(mutex_);
        if (failed_.empty()) return;
        Failed each = std::move(failed_.front());
        failed_.pop_front();
        lock.unlock();
        if (each.tries == 0)
            log().warning("before " + std::string(each.kind) + ": " + each.ended.error);
        try {
            add_run(
                kernel_,
                {*each.script, each.org_id, std::nullopt, each.kind},
                RunStatus::failed,
                each.ended
            );
        } catch (const std::exception& problem) {
            if (++each.tries >= most_tries) {
                log().error(
                    std::string("a run of a before-handler stays unrecorded: ") + problem.what()
                );
                continue;
            }
            lock.lock();
            failed_.push_back(std::move(each));  // behind the others
            throw;
        }
    }
}

void Runner::count(const Ended& ended) {
    ++counts_.runs;
    if (!ended.error.empty()) ++counts_.failures;
    counts_.microseconds += static_cast<std::uint64_t>(ended.took.count());
}

}  // namespace svc::automations

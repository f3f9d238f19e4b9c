#include "core/refusals.hpp"

#include <Poco/Logger.h>

namespace svc::core {

namespace {

/// What the caller was told, in the place of what would have changed.
struct Refused {
    std::string code, message;
};
SVC_RECORD(Refused, (code, "From the answer."), (message, "From the answer."));

/// The same of many that were refused alike.
struct RefusedOften {
    std::string code, message;
    std::int64_t count = 0;
};
SVC_RECORD(
    RefusedOften,
    (code, "From the last answer."),
    (message, "From the last answer."),
    (count, "How many calls were refused besides those that have entries of their own.")
);

void write_rest(Kernel::Impl& kernel, const RefusalCounts::Rest& rest) {
    const events::AuditNote note{
        .org_id = *rest.caller.org_id,
        .outcome = events::Outcome::denied,
        .after = to_json(RefusedOften{rest.code, rest.message, rest.count}),
    };
    kernel.database->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(rest.caller.org_id, rest.caller.user_id);
        events::queue_audit(
            tx,
            note,
            {.caller = &rest.caller, .surface = rest.caller.surface, .action = rest.operation}
        );
    });
}

/// "card" for "card_id": what the audit record calls the thing.
std::string_view type_of(std::string_view field) {
    if (field == "org_id") return "organization";
    return field.substr(0, field.rfind("_id"));
}

void write_note(const Run& run, const Input& input, const Failure& failure) {
    const Caller& caller = *run.who.caller();
    events::AuditNote note{
        .org_id = *caller.org_id,
        .outcome = events::Outcome::denied,
        .after = to_json(Refused{std::string(failure.code()), failure.what()}),
    };
    if (const auto subject = input.subject()) {
        note.target_type = type_of(subject->field);
        note.target_id = subject->id;
    }
    Kernel::Impl& kernel = run.kernel.impl();
    kernel.database->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(caller.org_id, caller.user_id);
        events::queue_audit(tx, note, context_of(run));
    });
    kernel.nudge();
}

}  // namespace

events::EventContext context_of(const Run& run) {
    const Caller* caller = run.who.caller();
    const Invocation* by = run.invocation;
    return {
        .caller = caller,
        .surface = by || !caller ? run.surface : caller->surface,
        .request_id = run.request_context.request_id,
        .client_address = run.client_address,
        .user_agent = run.user_agent,
        .action = run.operation.name,
        .cause_event = by ? by->cause_event : std::nullopt,
        .cause_automation = by ? by->cause_automation : std::nullopt,
        .depth = by ? by->depth : 0,
    };
}

void note_refusal(const Run& run, const Input& input, const Failure& failure) noexcept {
    if (failure.fault() != Fault::restricted) return;
    const Caller* caller = run.who.caller();
    if (!caller || !caller->org_id || !run.who.confirmed()) return;
    try {
        auto& counts = run.kernel.impl().refusals;
        const auto now = RefusalCounts::Clock::now();
        if (counts.alone(*caller, run.operation.name, failure.code(), failure.what(), now))
            write_note(run, input, failure);
    } catch (const std::exception& problem) {
        Poco::Logger::get("audit").error(
            "request " + run.request_context.request_id +
            ": the refusal could not be recorded: " + problem.what()
        );
    }
}

void note_rest_of_refusals(Kernel::Impl& kernel, RefusalCounts::Clock::time_point begun) noexcept {
    for (const auto& rest : kernel.refusals.take(begun)) {
        try {
            write_rest(kernel, rest);
            kernel.nudge();
        } catch (const std::exception& problem) {
            Poco::Logger::get("audit").error(
                std::to_string(rest.count) + " refusals of " + std::string(rest.operation) +
                " could not be recorded: " + problem.what()
            );
        }
    }
}

}  // namespace svc::core

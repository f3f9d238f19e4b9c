#include "core/run.hpp"

#include "core/access.hpp"
#include "core/budget_charge.hpp"
#include "core/idempotency.hpp"
#include "core/refusals.hpp"
#include "core/run_together.hpp"
#include "core/running_call.hpp"
#include "svc/guard.hpp"

#include <Poco/Logger.h>

#include <thread>

namespace svc::core {

namespace {

// Bytes that most answers fit in: so much is taken at once, in place of doubling up to there.
constexpr std::size_t usual_answer = 1 << 10;

}  // namespace

Failure too_large_answer() {
    return Failure(
               Fault::too_large,
               "The answer would be larger than the server sends at once; ask for less, such as a "
               "smaller page."
    )
        .with("reason", "answer_too_large");
}

std::pair<std::string, std::string> etag_of(std::int64_t version) {
    return {"ETag", '"' + std::to_string(version) + '"'};
}

namespace {

/// 402; but whoever may not do it, the bill settled or not, is told so. The role on a board is
/// known to the handler alone, so it runs, and nothing that it did is kept.
[[noreturn]] void refuse_past_due(const Run& run, Input& input) {
    Run trial = run;
    trial.may_park = trial.may_block = false;
    try {
        RunningCall call(trial);
        std::string unread;
        run.operation.handler.run(
            call,
            [&](void* record) {
                input.fill(record);
                call.set_input(record);
            },
            unread
        );
    } catch (const Failure& failure) {
        if (failure.fault() == Fault::restricted || failure.fault() == Fault::unavailable) throw;
    } catch (const ConstraintError&) {
        // It would have met something else; the bill comes first.
    }
    throw workspace_past_due();
}

/// Nothing when another request is to answer it.
std::optional<http::Answer> attempt(const Run& run, Input& input) {
    const Operation& operation = run.operation;
    RunningCall call(run);
    call.set_raw_input(input);
    for (const Guard& guard : operation.guards) guard(call);
    input.check_syntax();
    call.set_expected_version(input.expected_version());
    call.set_named_lease(input.named_lease());
    check_access(operation.access, run.who);
    check_scope(run.kernel, operation, run.who);
    if (is_past_due(operation, run.who)) refuse_past_due(run, input);

    http::Answer answer;
    answer.status = operation.status;
    IdempotencyKey key(run, call, input);
    if (key.replay(answer)) {
        call.finish();
        return answer;
    }
    switch (key.empty() ? serve_with_others(run, call, input, answer) : Joining::alone) {
        case Joining::served: return answer;
        case Joining::waits: return std::nullopt;
        case Joining::alone: break;
    }
    if (operation.status != 204) answer.body.reserve(usual_answer);
    const HandlerResult produced = operation.handler.run(
        call,
        [&](void* record) {
            input.fill(record);
            call.set_input(record);
        },
        answer.body
    );
    if (answer.body.size() > run.kernel.impl().largest_answer) throw too_large_answer();
    if (produced.status) answer.status = produced.status;
    answer.headers = call.take_headers();
    if (produced.version) answer.headers.push_back(etag_of(*produced.version));
    key.keep(answer);
    call.finish();
    for (auto& header : call.take_headers()) answer.headers.push_back(std::move(header));
    return answer;
}

constexpr int most_attempts = 3;

void pause_before(int attempt_number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * attempt_number * attempt_number));
}

// A check that is called `<limit>_within_plan` says that the workspace has no room for more.
std::optional<std::string> limit_of(const ConstraintError& broken) {
    static constexpr std::string_view end = "_within_plan";
    const std::string_view name = broken.constraint();
    if (broken.kind() != ConstraintError::Kind::check || !name.ends_with(end)) return std::nullopt;
    return std::string(name.substr(0, name.size() - end.size()));
}

Failure plan_limit(const std::string& limit) {
    return Failure(
               Fault::plan_limit,
               "The workspace has no room for this: it has reached its limit of " + limit + "."
    )
        .with("limit", limit);
}

std::optional<http::Answer> run_with_retries(const Run& run, Input& input) {
    BudgetCharge budget_charge(run.kernel.impl(), run.request_context);
    const auto kind =
        run.operation.read_only() ? BudgetCharge::Kind::read : BudgetCharge::Kind::write;
    for (int number = 1;; ++number) {
        run.request_context.ticket = run.kernel.impl().wait_queue.ticket();
        try {
            if (run.operation.access != Access::anyone) run.who.authenticate();
            if (run.request && run.operation.access != Access::anyone)
                run.who.check_csrf(*run.request);
            budget_charge.take(run.who, kind);
            auto answer = attempt(run, input);
            if (answer) budget_charge.keep();
            else budget_charge.leave_to_next();
            return answer;
        } catch (const StaleIdentity&) {
            budget_charge.undo();
            (run.own_work ? *run.own_work : run.request_context.own_work)
                .reset();  // it was another's
            if (number > most_attempts)
                throw Failure(Fault::unavailable, "Your rights are changing just now; try again.")
                    .with_header("Retry-After", "1");
        } catch (const LedInVain&) {
            --number;  // that was no attempt of its own
        } catch (const RetryTransaction& again) {
            if (number >= most_attempts)
                throw Failure(Fault::unavailable, "Others are changing the same things; try again.")
                    .with_header("Retry-After", "1");
            pause_before(number);
        } catch (const ConstraintError& broken) {
            // What the handler found has gone meanwhile, or what it found free is taken; the next
            // run finds that out.
            if (const auto limit = limit_of(broken)) throw plan_limit(*limit);
            const bool taken = broken.kind() == ConstraintError::Kind::unique;
            if (!taken && broken.kind() != ConstraintError::Kind::foreign_key) throw;
            if (number >= most_attempts)
                throw Failure(
                    Fault::conflict,
                    taken ? "Somebody else has just taken an id or a name that this gives."
                          : "What this is about has just been removed."
                );
            pause_before(number);
        } catch (const Failure& failure) {
            // A refusal may rest on a hint that is no longer true.
            if (failure.fault() == Fault::unavailable || run.who.confirmed()) throw;
            try {
                run.who.confirm();
            } catch (const StaleIdentity&) {
                budget_charge.undo();
                continue;
            }
            throw;
        }
    }
}

}  // namespace

std::optional<http::Answer> run_operation(const Run& run, Input& input) {
    if (auto answer = answered_by_another(run)) return answer;
    auto& member = run.request_context.member;
    try {
        auto answer = run_with_retries(run, input);
        if (answer) member.reset();
        return answer;
    } catch (const Failure& failure) {
        member.reset();
        note_refusal(run, input, failure);
        throw;
    } catch (...) {
        member.reset();
        throw;
    }
}

http::Answer answer_of(const Failure& failure, std::string_view request_id) {
    http::Answer answer;
    answer.status = failure.status();
    answer.headers = failure.headers();
    answer.body = failure.body(request_id);
    return answer;
}

http::Answer answer_of_unexpected(std::string_view what, std::string_view request_id) {
    Poco::Logger::get("requests")
        .error("request " + std::string(request_id) + ": " + std::string(what));
    return answer_of(
        Failure(
            Fault::internal,
            "Something went wrong here, and it has been noted under the id of this request."
        ),
        request_id
    );
}

}  // namespace svc::core

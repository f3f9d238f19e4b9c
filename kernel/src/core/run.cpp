#include "core/run.hpp"

#include "core/budget_charge.hpp"
#include "core/idempotency.hpp"
#include "core/refusals.hpp"
#include "core/run_together.hpp"
#include "core/running_call.hpp"
#include "svc/guard.hpp"

#include <Poco/Logger.h>
#include <boost/json.hpp>

#include <thread>

namespace svc::core {

namespace {

// Bytes that most answers fit in: so much is taken at once, in place of doubling up to there.
constexpr std::size_t usual_answer = 1 << 10;

/// In the workspace; nothing when `access` does not ask for one.
std::optional<OrgRole> least_role(Access access) {
    switch (access) {
        case Access::anyone:
        case Access::me:
        case Access::person: break;
        case Access::member:
        case Access::board_viewer:
        case Access::board_editor:
        case Access::board_admin: return OrgRole::viewer;
        case Access::admin: return OrgRole::admin;
        case Access::owner: return OrgRole::owner;
    }
    return std::nullopt;
}

void require_person(const Caller& caller) {
    if (caller.is_person()) return;
    throw Failure(
        Fault::restricted,
        "Only a person may do this: sign in, or use an integration token instead of an agent's."
    );
}

void require_role(const Caller& caller, OrgRole least) {
    if (!caller.org_id) not_found("workspace");
    if (caller.role >= least) return;
    throw Failure(
        Fault::restricted,
        "This takes the role " + std::string(name_of(least)) + " in the workspace; yours is " +
            std::string(name_of(caller.role)) + "."
    );
}

bool is_past_due(const Operation& operation, const CallerResolver& who) {
    const Caller* caller = who.caller();
    return caller && caller->past_due && !operation.read_only() && !operation.when_past_due &&
           operation.access > Access::person;
}

}  // namespace

void check_access(Access access, const CallerResolver& who) {
    if (access == Access::anyone) return;
    who.require_workspace();
    const Caller& caller = *who.caller();
    if (access == Access::person) require_person(caller);
    if (const auto least = least_role(access)) require_role(caller, *least);
}

void check_scope(const Kernel& kernel, const Operation& operation, const CallerResolver& who) {
    const Caller* caller = who.caller();
    if (!caller || !caller->scope.limits() || operation.access == Access::anyone) return;
    if (admits(caller->scope, *kernel.find_operation(operation.name))) return;
    const std::string name(operation.name);
    throw outside_token_scope(
        caller->scope.read_only && !operation.read_only()
            ? "This token only reads; " + name + " changes something."
            : "This token is limited to some toolsets, and " + name + " is in none of them."
    );
}

Failure outside_token_scope(const std::string& message) {
    return Failure(Fault::restricted, message).with("reason", "outside_token_scope");
}

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

namespace {

class FlatInput final : public Input {
public:
    FlatInput(const Run& run, std::string_view arguments)
        : operation_(run.operation), who_(run.who), text_(arguments) {}
    /// The caller's is settled by now, and arguments can name no other.
    void check_workspace() const override {}
    void check_syntax() override {
        if (value_.is_null()) {
            value_ =
                text_.empty() ? json::value(json::object{}) : decl::parse_json(text_, "arguments");
            expected_version_ = decl::take_expected_version(operation_, value_);
            named_lease_ = decl::take_named_lease(operation_, value_);
        }
        require_own_workspace();
    }
    void fill(void* input) override { decl::fill_flat(operation_, value_, input); }
    std::optional<std::int64_t> expected_version() const override { return expected_version_; }
    std::string_view named_lease() const override { return named_lease_; }
    std::string_view body() const override { return text_; }
    std::optional<Subject> subject() const override;

private:
    void require_own_workspace() const;

    const Operation& operation_;
    const CallerResolver& who_;
    std::string_view text_;
    json::value value_;
    std::optional<std::int64_t> expected_version_;
    std::string named_lease_;
};

/// The caller's workspace is settled before the arguments are looked at, so they can name it and
/// no other.
void FlatInput::require_own_workspace() const {
    const json::object* given = value_.if_object();
    if (!given || !operation_.handler.input->find("org_id")) return;
    const json::value* value = given->if_contains("org_id");
    const auto* text = value ? value->if_string() : nullptr;
    const auto named = text ? Uuid::parse(*text) : std::nullopt;
    const Caller* caller = who_.caller();
    if (named && caller && caller->org_id != named) not_found("workspace");
}

std::optional<Input::Subject> FlatInput::subject() const {
    const json::object* given = value_.if_object();
    if (!given) return std::nullopt;
    std::string_view rest = operation_.path();
    for (auto open = rest.rfind('{'); open != rest.npos; open = rest.rfind('{')) {
        const auto field = rest.substr(open + 1, rest.find('}', open) - open - 1);
        const json::value* value = given->if_contains(field);
        const auto* text = value ? value->if_string() : nullptr;
        if (const auto id = text ? Uuid::parse(*text) : std::nullopt) return Subject{field, *id};
        rest = rest.substr(0, open);
    }
    return std::nullopt;
}

}  // namespace

Invoked invoke_within(const Run& run, std::string_view arguments) {
    FlatInput input(run, arguments);
    try {
        http::Answer answer = run_operation(run, input).value();
        return {answer.status, std::move(answer.body)};
    } catch (const Failure& failure) {
        return {failure.status(), failure.body(run.request_context.request_id)};
    } catch (const std::exception& problem) {
        auto answer = answer_of_unexpected(problem.what(), run.request_context.request_id);
        return {answer.status, std::move(answer.body)};
    }
}

Invoked invoke_for(Kernel& kernel, const Caller& caller, const Invocation& invocation) {
    RequestContext request_context{.request_id = new_uuid().str()};
    const Declared* declared = kernel.find_operation(invocation.operation);
    if (!declared || !declared->operation->tool) {
        const Failure failure(
            Fault::not_found, "There is no operation " + std::string(invocation.operation) + "."
        );
        return {failure.status(), failure.body(request_context.request_id)};
    }
    CallerResolver who(kernel.impl(), caller);
    const Run run{
        .kernel = kernel,
        .operation = *declared->operation,
        .who = who,
        .request_context = request_context,
        .surface = invocation.surface,
        .may_block = true,
        .invocation = &invocation,
    };
    return invoke_within(run, invocation.arguments);
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

namespace svc {

bool admits(Access access, const Caller& caller) {
    if (access == Access::person) return caller.is_person();
    const auto least = core::least_role(access);
    return !least || (caller.org_id && caller.role >= *least);
}

bool in_toolset(const Declared& declared, std::string_view toolset) {
    return toolset == declared.tag || (toolset == "worker" && declared.operation->worker);
}

bool admits(const ToolScope& scope, const Declared& declared) {
    if (scope.read_only && !declared.operation->read_only()) return false;
    if (!scope.names_some()) return true;
    return std::ranges::find(scope.tools, declared.operation->name) != scope.tools.end() ||
           std::ranges::any_of(scope.toolsets, [&](const std::string& each) {
               return in_toolset(declared, each);
           });
}

}  // namespace svc

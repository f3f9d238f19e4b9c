#include "core/run_together.hpp"

#include "core/running_call.hpp"

#include <fmt/format.h>

namespace svc::core {

namespace {

/// Whether it can be served with others of its caller's: nothing about it is its own alone.
bool may_join(const Run& run) {
    const Caller* caller = run.who.caller();
    if (!run.operation.joint_handler || !run.request || !run.may_park || !caller) return false;
    const RequestContext& context = run.request_context;
    if (!caller->token_id || !context.room_to_wait || context.has_waited) return false;
    if (context.bytes > most_kept_bytes) return false;
    return !run.kernel.stopping() && !run.request->has("x-svc-mutation") &&
           !run.request->has("x-svc-lease");
}

bool enter_group(const Run& run, RunningCall& call, Input& input) {
    if (!may_join(run)) return false;
    const JointHandler& handler = run.operation.joint_handler;
    auto record = handler.make_input();
    input.fill(record.get());
    call.set_input(record.get());
    const auto alike = handler.key(call, record.get());
    if (!alike) return false;
    const Caller& caller = *run.who.caller();
    RequestContext& context = run.request_context;
    context.member = std::make_shared<RequestGroups::Member>(
        std::move(record), context.request_id, context.waiter
    );
    // By the credential and by what is known of it, not by the token: its secret may have been
    // replaced, and who asks with the old one is to be answered by nobody's question but its own.
    const auto key = fmt::format(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}",
        run.operation.name,
        run.who.credential().key,
        caller.as_of,
        caller.org_id.value_or(Uuid{}).str(),
        run.client_address,
        run.user_agent,
        *alike
    );
    run.kernel.impl().request_groups.enter(key, context.member, handler.turns);
    return true;
}

/// Throws 413 where the answer is too large: it is done all the same.
http::Answer answer_of(const Run& run, JointHandler::Produced&& produced) {
    if (produced.body.size() > run.kernel.impl().largest_answer) throw too_large_answer();
    http::Answer answer;
    answer.status = run.operation.status;
    answer.body = std::move(produced.body);
    if (produced.version) answer.headers.push_back(etag_of(*produced.version));
    return answer;
}

/// Serves its own request and those of the others. Each that is not served by that is run by itself
/// afterwards; throws LedInVain when its own is one of them.
http::Answer lead(const Run& run, RunningCall& call, RequestGroups::Member& member) {
    member.leave_out_gone();
    std::vector<JointHandler::Untyped> requests{{member.input(), &member.request_id()}};
    for (const auto& each : member.others())
        requests.push_back({each->input(), &each->request_id()});
    std::vector<std::optional<JointHandler::Produced>> produced;
    try {
        call.wait_briefly();  // for what one of them is about, the others would wait too
        produced = run.operation.joint_handler.run(call, requests);
        call.finish();
    } catch (const std::exception& problem) {
        // Nothing is to be done twice, unless it is said that nothing was done.
        if (call.may_stand() && !dynamic_cast<const RetryTransaction*>(&problem)) {
            for (const auto& each : member.others()) member.fail(*each, std::current_exception());
            throw;
        }
        // Whosever it is: each finds out by itself, this one too.
        member.go_alone();
        throw LedInVain{};
    } catch (...) {
        member.go_alone();
        throw;
    }
    for (std::size_t i = 1; i < requests.size(); ++i) {
        if (!produced[i]) continue;
        auto& other = *member.others()[i - 1];
        try {
            member.answer(other, answer_of(run, std::move(*produced[i])));
        } catch (const Failure&) {
            member.fail(other, std::current_exception());
        }
    }
    member.go_alone();
    if (!produced[0]) throw LedInVain{};
    return answer_of(run, std::move(*produced[0]));
}

}  // namespace

std::optional<http::Answer> answered_by_another(const Run& run) {
    auto& member = run.request_context.member;
    if (!member || member->state() != RequestGroups::Member::State::answered) return std::nullopt;
    BudgetCharge charge(run.kernel.impl(), run.request_context);
    auto answer = std::exchange(member, nullptr)->take_answer();
    charge.keep();
    return answer;
}

Joining serve_with_others(const Run& run, RunningCall& call, Input& input, http::Answer& answer) {
    const auto& member = run.request_context.member;
    if (!member && !enter_group(run, call, input)) return Joining::alone;
    switch (member->state()) {
        case RequestGroups::Member::State::leads:
            answer = lead(run, call, *member);
            return Joining::served;
        case RequestGroups::Member::State::alone: return Joining::alone;
        case RequestGroups::Member::State::waits:
        case RequestGroups::Member::State::answered: break;
    }
    return Joining::waits;
}

}  // namespace svc::core

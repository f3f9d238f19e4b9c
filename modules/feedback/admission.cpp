// Who may report now, asked before anything of the report is read.

#include "modules/feedback/feedback.hpp"
#include "svc/guard.hpp"
#include "svc/rate_limit.hpp"

namespace svc::feedback {

namespace {

constexpr std::chrono::hours an_hour{1};
constexpr std::string_view too_often = "You have done this too often within an hour; try later.";

/// Whoever reports is somebody who can be answered: not the bearer of a share link, nor a script.
void require_reporter(const Caller& caller) {
    if (caller.type == PrincipalType::user || caller.type == PrincipalType::agent) return;
    throw Failure(Fault::restricted, "Only people and agents give feedback.");
}

/// Whoever calls, as they are now: nobody is counted for another.
const Caller& reporter(Call& call) {
    if (const Caller* caller = call.caller_if_any()) require_reporter(*caller);
    return settled_caller(call);
}

/// The same in a workspace, without which there is no place for a screenshot.
const Caller& reporter_in_workspace(Call& call) {
    const Caller& caller = reporter(call);
    if (!caller.org_id) not_found("workspace");
    return caller;
}

/// Counts the call for its caller, in a transaction of its own, since what is refused afterwards
/// counts as well. Once, however often the call is run: a commit waits for the store, and any call
/// may meet another.
void count(Call& call, std::string_view reason, std::int64_t most) {
    const DatabaseRateLimit limit(call.kernel(), {reason, most, an_hour});
    auto& window = call.own_work();
    if (!window) {
        auto counted = std::make_shared<RateWindow>();
        call.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
            *counted = limit.count(tx, call.caller().id.str()).one_or_retry();
        });
        window = std::move(counted);
    }
    limit.require(*std::static_pointer_cast<RateWindow>(window), too_often);
}

void refuse_past_due(const Caller& caller) {
    if (caller.past_due) throw workspace_past_due();
}

}  // namespace

void admit_report(Call& call) {
    const Caller& caller = reporter(call);
    count(call, "feedback", call.use<Settings>().reports_an_hour);
    refuse_past_due(caller);
}

void admit_screenshot(Call& call) {
    const Caller& caller = reporter_in_workspace(call);
    count(call, "feedback_upload", call.use<Settings>().screenshots_an_hour);
    refuse_past_due(caller);
}

void admit_screenshot_commit(Call& call) {
    reporter_in_workspace(call);
    count(call, "feedback_upload_commit", call.use<Settings>().screenshot_commits_an_hour);
}

}  // namespace svc::feedback

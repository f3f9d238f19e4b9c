// Who may report now, asked before anything of the report is read.

#include "modules/feedback/feedback.hpp"
#include "svc/rate_limit.hpp"

#include <algorithm>

namespace svc::feedback {

namespace {

constexpr std::chrono::hours an_hour{1};

/// Whoever reports is somebody who can be answered: not the bearer of a share link, nor a script.
void require_reporter(const Caller& caller) {
    if (caller.type == PrincipalType::user || caller.type == PrincipalType::agent) return;
    throw Failure(Fault::restricted, "Only people and agents give feedback.");
}

Failure not_an_id(std::string_view loc) {
    return Failure::invalid_at(loc, "uuid_parsing", "Should be a UUID");
}

/// The workspace that the request names, by header or query.
std::optional<Uuid> named_workspace(const http::Request& request) {
    const auto header = request.header("x-svc-org");
    const auto by_header = Uuid::parse(header);
    if (!header.empty() && !by_header) throw not_an_id(R"(["header","x-svc-org"])");
    std::optional<Uuid> by_query;
    auto query = http::parse_query(request.query);
    if (!query) query.emplace();  // what is malformed is refused later, and counted
    for (const auto& [name, value] : *query) {
        if (name != "org_id") continue;
        by_query = Uuid::parse(value);
        if (!by_query) throw not_an_id(R"(["query","org_id"])");
    }
    if (by_header && by_query && *by_header != *by_query)
        throw Failure::invalid_at(
            R"(["query","org_id"])", "value_error", "X-Svc-Org names another workspace"
        );
    return by_query ? by_query : by_header;
}

/// Whether the caller still is who they were last time, so that nobody is counted for another and
/// a call that is run again for that reason is counted once; the function returned reads the
/// answer.
std::function<bool()> confirmed(
    Tx& tx, Call& call, const Caller& caller, const std::optional<Uuid>& named
) {
    const auto by = call.sign_in();
    const auto* authenticator = by ? call.kernel().find_authenticator(by->authenticator) : nullptr;
    if (!authenticator) return [] { return true; };
    tx.set_scope(caller.org_id, caller.user_id);
    auto now = authenticator->identify(tx, {by->key, named}, &caller);
    return [now = std::move(now), &caller] {
        try {
            return now() == caller;
        } catch (const Failure&) {  // no member any more
            return false;
        }
    };
}

/// Counts the call for its caller and gives the window. In a transaction of its own, since what is
/// refused afterwards counts as well.
RateWindow count(Call& call, const DatabaseRateLimit& limit, const std::optional<Uuid>& named) {
    const Caller& caller = call.caller();
    RateWindow window;
    bool known = true;
    const auto work = [&](Tx& tx) {
        auto still = confirmed(tx, call, caller, named);
        auto counted = limit.count(tx, caller.id.str());
        window = counted.one_or_retry();
        known = still();
        if (!known) throw Failure(Fault::unavailable, "Your rights are changing just now.");
    };
    try {
        call.kernel().transact(Tx::Mode::write, work);
    } catch (const Failure&) {
        if (known) throw;
        call.caller_holds(false);  // the call is run again, on the truth
    }
    return window;
}

void refuse_past_due(const Caller& caller) {
    if (!caller.past_due) return;
    throw Failure(
        Fault::past_due,
        "The workspace is past due, so nothing in it can be changed; an owner can settle the bill."
    );
}

/// The caller, and the workspace that the request names.
struct Asked {
    const Caller& caller;
    std::optional<Uuid> named;
};

Asked resolve(Call& call) {
    const Caller* caller = call.caller_if_any();
    if (caller) require_reporter(*caller);
    std::optional<Uuid> named;
    if (call.request()) named = named_workspace(*call.request());
    if (!caller) not_found("workspace");
    return {*caller, named};
}

constexpr std::string_view too_often = "You have done this too often within an hour; try later.";

}  // namespace

void admit_report(Call& call) {
    const Asked asked = resolve(call);
    const DatabaseRateLimit limit(
        call.kernel(), {"feedback", call.use<Settings>().reports_an_hour, an_hour}
    );
    limit.require(count(call, limit, asked.named), too_often);
    refuse_past_due(asked.caller);
}

void admit_screenshot(Call& call) {
    const Asked asked = resolve(call);
    if (!asked.caller.org_id) not_found("workspace");
    const DatabaseRateLimit limit(
        call.kernel(), {"feedback_upload", call.use<Settings>().screenshots_an_hour, an_hour}
    );
    limit.require(count(call, limit, asked.named), too_often);
    refuse_past_due(asked.caller);
}

/// A commit waits for the store and is then run again, which does not count.
void admit_screenshot_commit(Call& call) {
    const Asked asked = resolve(call);
    if (!asked.caller.org_id) not_found("workspace");
    const DatabaseRateLimit limit(
        call.kernel(),
        {"feedback_upload_commit", call.use<Settings>().screenshot_commits_an_hour, an_hour}
    );
    auto& counted = call.own_work();
    if (!counted) counted = std::make_shared<RateWindow>(count(call, limit, asked.named));
    limit.require(*std::static_pointer_cast<RateWindow>(counted), too_often);
}

}  // namespace svc::feedback

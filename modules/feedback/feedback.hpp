#pragma once

#include "modules/feedback/settings.hpp"
#include "svc/kernel.hpp"

#include <algorithm>

/// What several files of this module share.
namespace svc::feedback {

/// Under which reports are kept that were given in no workspace.
inline Uuid org_or_none(const Caller& caller) { return caller.org_id.value_or(Uuid()); }

/// For the audit record alone: a report is its submitter's business, and no other member's.
inline constexpr EventKind feedback_created{
    .name = "feedback.created",
    .object = "feedback",
    .summary = "Somebody has reported something to whoever runs the service."
};
inline constexpr EventKind feedback_answered{
    .name = "feedback.answered",
    .object = "feedback",
    .summary = "The operator has set a report's status or replied to it."
};

// Guards of the three calls by which reports come in. They run before the body is looked at: who
// may not report at all is refused (403), then a workspace that is not the caller's (422, 404),
// then whoever has asked too often, this call counted, whatever becomes of it (429), then a
// workspace past due (402), but for the commit.
void admit_report(Call& call);
void admit_screenshot(Call& call);
void admit_screenshot_commit(Call& call);

void add_reports(Kernel& kernel);
void add_screenshots(Kernel& kernel);
void add_surveys(Kernel& kernel);
void add_removal_of_gone(Kernel& kernel);
Command feedback_command(Kernel& kernel);
Command surveys_command(Kernel& kernel);

}  // namespace svc::feedback

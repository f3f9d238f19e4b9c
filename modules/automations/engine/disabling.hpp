#pragma once

#include "modules/automations/engine/automation.hpp"

/// A script that fails over and over in a workspace answers no more events there.
namespace svc::automations {

/// `automation.disabled`.
extern const EventKind automation_disabled;
/// For the audit record alone: the operator has a script run again.
extern const EventKind automation_enabled;

// In the transaction that records how a run of the script ended, which acts for its workspace.

/// It does not fail any more.
void note_success(Tx& tx, const RunKey& key);
/// One more failed run: `last`. With the `most`th in a row the script is disabled in the workspace,
/// and that is emitted. 0: never.
void note_failure(Tx& tx, const RunKey& key, const AutomationRun& last, std::int64_t most);

/// `workboard automations …`.
Command automations_command(Kernel& kernel);

}  // namespace svc::automations

#pragma once

#include "core/run.hpp"

namespace svc::core {

/// What the audit record says of a call's surroundings: who, by which way, from where.
events::EventContext context_of(const Run& run);

/// Leaves an entry in the workspace's audit record when somebody who is in it was refused for
/// want of rights; the call's own transaction is gone by then. One that cannot be written is
/// logged: the refusal stands either way. Many of the same within a minute are counted instead.
void note_refusal(const Run& run, const Input& input, const Failure& failure) noexcept;

/// Leaves an entry for each count that began by then.
void note_rest_of_refusals(Kernel::Impl& kernel, RefusalCounts::Clock::time_point begun) noexcept;

}  // namespace svc::core

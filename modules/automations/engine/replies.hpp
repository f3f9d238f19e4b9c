#pragma once

#include "modules/automations/engine/sandbox.hpp"
#include "svc/page.hpp"

/// What operations answer to scripts.
namespace svc::automations {

/// Bytes of a request's body, as Operation::body_limit has it: what one wrote is no longer.
inline constexpr std::size_t longest_record = 1 << 20;
/// Bytes that a script gets at once: a page may exceed page_bytes by its last record.
inline constexpr std::size_t longest_reply = page_bytes + longest_record;

/// The reply as a script gets it. Of one that is too long, what was read is refused with 413; what
/// was done was done, so its `object` and `id` are left, and `truncated`.
Reply fitting(Reply reply, bool read_only);

}  // namespace svc::automations

#pragma once

#include "modules/files/files.hpp"

namespace svc::files {

/// Adds the jobs that delete attachments that have hung on no card for so long, those whose cards,
/// blocks and comments went for good among them. Counted from the first search that finds them so.
void add_deletion_of_unused(Kernel& kernel, std::chrono::seconds kept);

}  // namespace svc::files

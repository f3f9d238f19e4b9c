#pragma once

#include "modules/files/files.hpp"

#include <chrono>

namespace svc::files {

/// How long after its time an upload that had begun may end and be committed.
constexpr std::chrono::seconds grace{600};

/// Adds the jobs that remove what nobody needs from the store: uploads that were never committed,
/// what is left of those that were, and deleted files. A file that one is at is nobody else's for
/// some minutes, and what a crash leaves half done is done again after those.
void add_sweeps(const Service& service);

}  // namespace svc::files

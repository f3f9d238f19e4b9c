#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

/// What the system says of a running process.
namespace svc::bench {

/// The process and its descendants.
std::vector<pid_t> tree_of(pid_t pid);

/// Nanoseconds of processor time that the tree has used, all threads of it.
double cpu_nanoseconds(pid_t pid);

int threads_of(pid_t pid);

/// Bytes of anonymous memory: heap and stacks, without files and what they share.
double own_memory(pid_t pid);
/// Bytes of memory in RAM, shared libraries included: of the tree, and of the process alone.
double resident_memory(pid_t pid);
double resident_memory_alone(pid_t pid);

}  // namespace svc::bench

#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace svc::test {

/// Of a process that runs; 0 of one that does not.
inline std::size_t resident_bytes(pid_t process = ::getpid()) {
    std::size_t pages = 0, resident = 0;
    std::ifstream("/proc/" + std::to_string(process) + "/statm") >> pages >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Sanitizers keep what was freed.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool memory_is_given_back = false;
#else
inline constexpr bool memory_is_given_back = true;
#endif

}  // namespace svc::test

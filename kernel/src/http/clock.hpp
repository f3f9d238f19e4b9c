#pragma once

#include <cstdint>
#include <string_view>

namespace svc::http {

/// Milliseconds since some moment, never backwards, good to a few milliseconds: deadlines need
/// no more, and this clock costs no system call.
std::int64_t now_ms();

/// The present moment as a Date header has it. Valid until the thread's next call.
std::string_view http_date();

}  // namespace svc::http

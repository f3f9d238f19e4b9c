#pragma once

#include "load.hpp"

#include <chrono>
#include <cstdint>

/// People who log in beside people at work.
namespace svc::bench {

/// As many log-ins as the server will take, each by somebody who knows the password.
double log_ins_per_second(std::uint16_t port, double seconds);

struct Beside {
    double log_ins = 0;  ///< a second
    Herd::Trot herd;
};
/// Herd and log-ins for that long, both at once. `pace` is how often each of the herd asks.
Beside press_beside(Herd& herd, std::chrono::milliseconds pace, std::uint16_t port, double seconds);

/// Of a herd's requests: what the slowest hundredth takes at least.
double slowest_ms(const Herd::Trot& trot);

}  // namespace svc::bench

#pragma once

#include <functional>

namespace svc::core {

/// How a request that waits without a worker is reached. Any thread.
struct Waiter {
    std::function<void()> resume{};                     ///< has it come back
    std::function<bool()> gone = [] { return false; };  ///< nobody is there to be answered
};

}  // namespace svc::core

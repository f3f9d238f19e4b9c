#pragma once

#include <chrono>
#include <thread>

namespace svc::test {

/// Asks again and again until it is so; false when it was not within `patience`. On a loaded
/// machine what takes a moment takes long, so the patience is generous: only a failure waits it
/// out.
template <class Condition>
bool eventually(
    Condition condition, std::chrono::milliseconds patience = std::chrono::seconds(30)
) {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (auto pause = std::chrono::milliseconds(2); !condition();) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(pause);
        if (pause < std::chrono::milliseconds(20)) pause *= 2;
    }
    return true;
}

}  // namespace svc::test

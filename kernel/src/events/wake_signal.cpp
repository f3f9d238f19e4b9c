#include "events/wake_signal.hpp"

#include <random>

namespace svc::events {

std::chrono::milliseconds jittered(std::chrono::milliseconds time) {
    std::random_device device;
    std::uniform_int_distribution<std::chrono::milliseconds::rep> around(
        time.count() * 3 / 4, time.count() * 5 / 4
    );
    return std::chrono::milliseconds(around(device));
}

}  // namespace svc::events

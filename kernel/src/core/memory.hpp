#pragma once

#include <cstddef>

namespace svc::core {

/// Gives memory that is no longer used back to the system, which malloc by itself keeps: after a
/// few large answers the process would stay as large as they made it. One thread.
class Memory {
public:
    /// Has large blocks come from the system one by one, and go back to it at once. Call it before
    /// there are threads.
    static void begin();
    /// To be called every few seconds: does something only when much was freed since.
    void give_back();

private:
    std::size_t kept_ = 0;  // bytes free and kept, as of the last time that they were given back
};

}  // namespace svc::core

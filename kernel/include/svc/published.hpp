#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace svc {

/// What one thread replaces while others read it: each keeps what it has read, for as long as it
/// needs it. Any thread.
///
/// Not std::atomic<std::shared_ptr>: in libstdc++ 12 a reader gives its lock back relaxed, so
/// nothing orders what it read before the next write, and ThreadSanitizer says so.
template <class T>
class Published {
public:
    using Pointer = std::shared_ptr<const T>;

    explicit Published(Pointer value = nullptr) : value_(std::move(value)) {}

    Pointer get() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }
    void set(Pointer value) {
        const std::lock_guard lock(mutex_);
        std::swap(value_, value);  // the last of the old one ends behind the lock
    }

private:
    mutable std::mutex mutex_;
    Pointer value_;
};

}  // namespace svc

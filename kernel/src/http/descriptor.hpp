#pragma once

#include <utility>

namespace svc::http {

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void set(int descriptor) { close(), descriptor_ = descriptor; }
    int get() const { return descriptor_; }
    /// The caller's to close from now on.
    int release() { return std::exchange(descriptor_, -1); }
    void close();

private:
    int descriptor_;
};

}  // namespace svc::http

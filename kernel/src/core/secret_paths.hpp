#pragma once

#include "svc/kernel.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace svc::core {

/// Which paths hold a secret: those of operations that have a parameter in the path whose field is
/// `secret`, and the pages of the same name outside /v1, where people open what such an operation
/// shows. Immutable; any thread.
class SecretPaths {
public:
    explicit SecretPaths(const std::vector<Declared>& operations);
    /// The path as a log may have it: what is secret is written as ***.
    std::string shown(std::string_view path) const;

private:
    std::vector<std::string> stems_;  // what stands before the secret, to the slash
};

}  // namespace svc::core

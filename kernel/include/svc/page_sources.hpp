#pragma once

#include <string>
#include <string_view>

namespace svc {

/// Offered by the module that keeps files under an address of its own: pages send files there and
/// show pictures from there, which their Content-Security-Policy has to allow.
class PageSources {
public:
    static constexpr std::string_view name = "kernel.PageSources";
    virtual ~PageSources() = default;
    /// Scheme, host and port, as browsers reach it: "https://files.example.com". Any thread.
    virtual std::string origin() const = 0;
};

}  // namespace svc

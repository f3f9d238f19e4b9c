#pragma once

#include "svc/caller.hpp"

/// How much callers may do.
namespace svc {

/// Asked by the kernel for every request that carries a credential, before it looks at what is
/// requested. Offered by a module; without one nobody has a limit. Any thread.
class Budgets {
public:
    static constexpr std::string_view name = "kernel.Budgets";
    virtual ~Budgets() = default;

    struct Cost {
        std::int64_t requests = 0;
        std::int64_t writes = 0;
        bool operator==(const Cost&) const = default;
    };
    /// Takes all of it, or none and throws Failure 429 with Retry-After. Runs in front of the
    /// request's own statements, so it has to do without the database but for rare cases.
    virtual void take(const Caller& caller, const Cost& cost) = 0;
    /// Takes back what came to nothing.
    virtual void give_back(const Uuid& principal, const Cost& cost) noexcept = 0;

    using Headers = std::vector<std::pair<std::string, std::string>>;
    /// Adds X-RateLimit-Limit, -Remaining and -Reset to the caller's answer when a budget applies.
    virtual void report(const Caller& caller, Headers& headers) const = 0;
};

}  // namespace svc

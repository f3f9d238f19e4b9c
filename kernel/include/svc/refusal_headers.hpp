#pragma once

#include "svc/failure.hpp"
#include "svc/http.hpp"

#include <string>
#include <utility>
#include <vector>

namespace svc {

/// What refusals of routes say besides: where a client gets a credential, which pages may read it.
/// Offered by one module, for routes of its own; any thread.
class RefusalHeaders {
public:
    static constexpr std::string_view name = "RefusalHeaders";
    virtual ~RefusalHeaders() = default;

    /// In place of those of the same names.
    virtual std::vector<std::pair<std::string, std::string>> of(
        const http::Request& request, Fault fault
    ) const = 0;
};

}  // namespace svc

#pragma once

#include "svc/http.hpp"

#include <optional>
#include <string>

namespace svc {

/// Where clients without a good credential get one. Offered by whoever hands them out; any thread.
class Challenge {
public:
    static constexpr std::string_view name = "Challenge";
    virtual ~Challenge() = default;

    /// The WWW-Authenticate of a 401 to this request, in place of `Bearer`.
    virtual std::optional<std::string> of(const http::Request& request) const = 0;
};

}  // namespace svc

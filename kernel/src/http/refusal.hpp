#pragma once

#include <string_view>

namespace svc::http {

/// Why something never became a request. `reason` is for people and has static storage.
struct Refusal {
    int status = 400;
    std::string_view reason{};
};

}  // namespace svc::http

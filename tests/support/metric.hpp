#pragma once

#include "tests/support/server.hpp"

#include <regex>

namespace svc::test {

/// A figure of `/metrics`, by its name without `workboard_`; -1 when there is none.
inline double metric_of(const Server& server, const std::string& name) {
    std::smatch found;
    const std::string text = server.client().get("/metrics").body;
    if (!std::regex_search(text, found, std::regex("\nworkboard_" + name + " (\\S+)"))) return -1;
    return std::stod(found[1]);
}

}  // namespace svc::test

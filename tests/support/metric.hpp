#pragma once

#include "tests/support/server.hpp"

#include <string>

namespace svc::test {

/// A figure of `/metrics`, by its name without `workboard_`; -1 when there is none.
inline double metric_of(const Server& server, const std::string& name) {
    const std::string text = server.client().get("/metrics").body,
                      line = "\nworkboard_" + name + " ";
    const auto at = text.find(line);
    return at == text.npos ? -1 : std::stod(text.substr(at + line.size(), 40));
}

}  // namespace svc::test

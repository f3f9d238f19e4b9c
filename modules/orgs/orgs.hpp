#pragma once

#include "modules/orgs/api.hpp"

namespace svc::orgs {

struct Settings {
    static constexpr std::string_view name = "orgs.Settings";  ///< offered to the handlers
    std::int64_t free_seats = 5;
};
SVC_RECORD(
    Settings,
    (free_seats,
     "How many people a workspace on the free plan has room for.",
     range(1, 100000),
     defaulted)
);

/// Puts the operations on workspaces into the kernel.
void add_org_operations(Kernel& kernel);

}  // namespace svc::orgs

#pragma once

#include "svc/kernel.hpp"

#include <boost/json/object.hpp>

namespace svc::agents {

/// Runs an operation in a workspace as the system, whose name in the record is `why`: a command of
/// the operator's, or what the server does by itself. Throws std::runtime_error with what the
/// operation said when it refused.
void run_as_system(
    Kernel& kernel,
    const Uuid& org,
    std::string_view why,
    std::string_view operation,
    const boost::json::object& arguments
);

}  // namespace svc::agents

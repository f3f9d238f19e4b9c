#pragma once

#include "modules/automations/engine/script.hpp"
#include "svc/kernel.hpp"

#include <filesystem>

namespace svc::automations {

/// One case of a script's test that did not come out as written.
struct CheckFault {
    std::string script, name, what;
};

struct CheckReport {
    int cases = 0;
    std::vector<CheckFault> faults;
};

/// Runs the test of a script, the file beside it that ends in `.test.json` instead of `.lua`
/// (docs/automations.md has its form). A script without a test, and a test that cannot be read,
/// are faults, and so is whatever the modules that are on do not declare: kinds of events, what
/// events and answers have, operations and their arguments. Touches no database.
CheckReport check_script(
    const std::filesystem::path& file, const Sandbox& sandbox, const Kernel& kernel
);

/// What the modules of this kernel declare, as far as scripts depend on it.
Declarations declarations_of(const Kernel& kernel);

}  // namespace svc::automations

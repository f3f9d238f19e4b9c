#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace svc::automations {

/// An operation that a script's text names as `svc.name`, and where it does so first.
struct NamedOperation {
    std::string name;
    std::int64_t line = 1;
};

/// Those of a Lua source, each once, in the order of the text. Comments and text in quotes or long
/// brackets name nothing; nor does a name that is put together when the script runs.
std::vector<NamedOperation> named_operations(std::string_view source);

}  // namespace svc::automations

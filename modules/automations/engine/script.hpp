#pragma once

#include "modules/automations/engine/sandbox.hpp"

#include <filesystem>

namespace svc::automations {

/// A script of the operator's, as it was when the server started.
struct Script {
    std::string name;  ///< the file's name, such as label-results.lua
    Uuid id;           ///< made of the name: the same on every server
    std::string source;
    std::vector<Bind> binds;

    /// Whether a handler of this sort ("before", "after") is bound to the kind.
    bool binds_to(std::string_view when, std::string_view kind) const;
};

inline constexpr std::size_t longest_source = 65'536;  ///< bytes

/// Reads the file and runs its body in the sandbox to learn what it binds to. Throws
/// std::runtime_error, one line with the script's name, when it does not load.
Script load_script(const std::filesystem::path& file, const Sandbox& sandbox);

/// `names` are relative to `folder` or absolute; the scripts come in the order of their names.
std::vector<Script> load_scripts(
    const std::filesystem::path& folder,
    const std::vector<std::string>& names,
    const Sandbox& sandbox
);

}  // namespace svc::automations

#pragma once

#include "modules/automations/engine/named_operations.hpp"
#include "modules/automations/engine/sandbox.hpp"

#include <filesystem>
#include <memory>

namespace svc::automations {

/// A script of the operator's, as it was when it was loaded.
struct Script {
    std::string name;  ///< the file's name, such as label-results.lua
    Uuid id;           ///< made of the name: the same on every server
    std::string source;
    std::string digest;  ///< of the source: SHA-256, in hex
    std::vector<Bind> binds;
    std::vector<NamedOperation> operations;  ///< that its text names, each once

    /// Whether a handler of this sort ("before", "after") is bound to the kind.
    bool binds_to(std::string_view when, std::string_view kind) const;
};

/// The scripts that run together; replaced as a whole.
using Scripts = std::shared_ptr<const std::vector<Script>>;

inline constexpr std::size_t longest_source = 65'536;  ///< bytes

/// The id that a script of this name has.
Uuid script_id(std::string_view name);

/// Reads the file and runs its body in the sandbox to learn what it binds to. Throws
/// std::runtime_error, one line with the script's name, when it does not load.
Script load_script(const std::filesystem::path& file, const Sandbox& sandbox);

/// What a server declares, as far as scripts depend on it.
struct Declarations {
    std::function<bool(std::string_view filter)> has_kind;
    std::function<bool(std::string_view filter)> has_refusable_kind;  ///< for a before-handler
    std::function<bool(std::string_view name)> has_operation;
};

/// Throws std::runtime_error, one line with the script's name and the line in it, when it waits for
/// or calls what nothing declares, or would refuse what nobody may.
void require_declared(const Script& script, const Declarations& declared);

/// `names` are relative to `folder` or absolute; the scripts come in the order of their names. A
/// script that asks for what is not there is a std::runtime_error.
std::vector<Script> load_scripts(
    const std::filesystem::path& folder,
    const std::vector<std::string>& names,
    const Sandbox& sandbox,
    const Declarations& declared
);

}  // namespace svc::automations

#pragma once

#include "svc/module.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace svc::core {

/// A module as it was loaded. The library stays mapped until the process ends.
struct Loaded {
    const ModuleCard* card = nullptr;
    std::unique_ptr<Module> module;
};

/// The cards of the named libraries, each behind those it needs; nothing is made. Throws as
/// load_modules() does, but for needs that are not among the names.
std::vector<const ModuleCard*> load_cards(
    const std::filesystem::path& folder, std::span<const std::string> names
);

/// Loads the named libraries from `folder`, in the order of their needs, without opening them.
/// Throws std::runtime_error with one line that names the module that is missing, stale, broken,
/// in a circle or in want of another. Of `drivers` those are left out whose feature is not on.
std::vector<Loaded> load_modules(
    const std::filesystem::path& folder,
    std::span<const std::string> names,
    std::span<const std::string> drivers = {}
);

}  // namespace svc::core

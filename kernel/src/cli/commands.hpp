#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svc::cli {

/// A command line, taken apart.
struct Words {
    std::vector<std::string> words;  ///< the command and what follows it, flags taken out
    std::string config;
    std::vector<std::pair<std::string, std::string>> settings;  ///< "section.key" and its value
};

struct Command {
    std::string_view name, help;
    int (*run)(const Words&);
};

/// The kernel's own commands.
std::span<const Command> commands();

/// A command that a module brings; std::runtime_error when none does.
int run_module_command(const Words& words);

}  // namespace svc::cli

#pragma once

#include "core/app.hpp"

#include <filesystem>
#include <functional>
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
    std::vector<std::string> switches;                          ///< flags without a value

    bool has(std::string_view name) const;
};

struct Command {
    std::string_view name, help;
    int (*run)(const Words&);
    std::string_view words = {};     ///< what follows the name: "FILE [--overwrite]"
    std::string_view more = {};      ///< lines for its own --help
    std::string_view switches = {};  ///< those it takes, with a blank between them
};

core::App make_app(const Words& words);
/// The settings files that such an App reads, in the order of reading.
std::vector<std::filesystem::path> config_files(const Words& words);

/// What is said of a schema that is not up to date.
std::string migrations_pending(std::size_t count);
/// Throws that when it is not.
void require_migrated(core::App& app);
/// For commands that change something, the modules opened to look: the database, and then folder
/// and key if they are missing. An empty database gets its schema; std::runtime_error when there is
/// none, or its schema is not up to date.
void open_to_change(core::App& app);
/// Throws std::runtime_error when others have sessions in the database, which `count` tells. Waits
/// a moment for those of a server that has just ended.
void require_no_other_sessions(const std::function<std::int64_t()>& count);

int doctor(const Words& words);
int backup(const Words& words);
int restore(const Words& words);
int key(const Words& words);
int jobs(const Words& words);

/// The kernel's own commands.
std::span<const Command> commands();

/// A command that a module brings; std::runtime_error when none does.
int run_module_command(const Words& words);
/// What such a command is for, for its --help.
std::string help_of_module_command(const Words& words);

}  // namespace svc::cli

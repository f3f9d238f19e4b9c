#pragma once

#include "svc/events.hpp"

#include <chrono>
#include <filesystem>

/// Runs scripts, each run in a process of its own (docs/automations.md). Knows nothing of the
/// database.
namespace svc::automations {

/// A handler that a script has bound.
struct Bind {
    std::string when;   ///< "before" or "after"
    std::string event;  ///< a kind, `noun.*` or `*`
    std::int64_t line = 0;
    bool operator==(const Bind&) const = default;
};

struct Limits {
    std::size_t memory = 16 << 20;  ///< bytes of Lua's
    std::int64_t instructions = 10'000'000;
    std::chrono::milliseconds own_time{2'000};     ///< while the server waits for the script
    std::chrono::milliseconds whole_time{30'000};  ///< calls of the script's included
    int calls = 50;
    std::size_t bytes = 4 << 20;  ///< of everything that the script sends
};

enum class Mode { load, before, after };

struct Job {
    Mode mode = Mode::load;
    std::string_view name;  ///< of the script, for messages
    std::string_view source;
    std::string_view event;  ///< its envelope; empty to load
    /// What other runs have left of Limits::own_time, where they share it; nothing: all of it.
    std::optional<std::chrono::milliseconds> own_time_left{};
};

/// An operation that a script calls, and what it gets for it.
struct ScriptCall {
    std::string operation;
    std::string arguments;  ///< a JSON object
};
struct Reply {
    int status = 200;
    std::string body;  ///< JSON, or empty
};
using Serve = std::function<Reply(const ScriptCall&)>;

/// How a run ended. Nothing that a script does throws.
struct Ended {
    std::string error{};  ///< for people, with the script's name and line; empty: all went well
    std::vector<Bind> binds{};
    Verdict refusal{};
    std::vector<std::string> log{};
    std::int64_t instructions = 0, memory_peak_bytes = 0;
    std::chrono::microseconds took{};
};

/// Any thread; calls run side by side.
class Sandbox {
public:
    /// `program` is the workboard-sandbox of this build.
    Sandbox(std::filesystem::path program, Limits limits);
    /// Throws std::system_error when no process can be started.
    Ended run(const Job& job, const Serve& serve = {}) const;
    const Limits& limits() const { return limits_; }

    /// Where the program is: beside the one that runs, or in `share`/bin. Throws
    /// std::runtime_error when it is in neither place.
    static std::filesystem::path program_near(const std::filesystem::path& share);

private:
    std::filesystem::path program_;
    Limits limits_;
};

}  // namespace svc::automations

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Other programs, as tests and benchmarks start them.
namespace svc::test {

/// A folder that is gone with the object.
class TempFolder {
public:
    explicit TempFolder(const std::string& name);
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A running child process. Both its outputs go to one file. Destroying it ends it the hard way;
/// it ends by itself with the thread that started it.
class Program {
public:
    struct Start {
        std::vector<std::string> command;      ///< the program, looked up in PATH, and its words
        std::vector<std::string> environment;  ///< NAME=value, added to ours
        std::filesystem::path folder;          ///< to start in; empty: ours
        std::filesystem::path output;          ///< appended to
    };
    explicit Program(const Start& start);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    /// The exit code (128 + the signal when one ended it), or nothing when it is still running.
    std::optional<int> wait(std::chrono::milliseconds at_most);
    bool running() { return !wait(std::chrono::milliseconds(0)); }

private:
    pid_t pid_ = -1;
    std::optional<int> code_;
};

/// What a finished program printed to its standard output, and its exit code.
struct Finished {
    int code = 0;
    std::string output;
};
/// Runs `command` to its end with `input` as its standard input. Its errors go to ours.
Finished run(
    const std::vector<std::string>& command,
    const std::vector<std::string>& environment = {},
    const std::filesystem::path& folder = {},
    std::string_view input = {}
);

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view text);

/// A TCP port of 127.0.0.1 that nothing listens on at this moment.
std::uint16_t free_port();

}  // namespace svc::test

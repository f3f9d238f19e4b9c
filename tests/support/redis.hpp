#pragma once

#include "tests/support/eventually.hpp"
#include "tests/support/program.hpp"

#include <csignal>
#include <stdexcept>

namespace svc::test {

/// A Redis of one's own on a free port of 127.0.0.1, which keeps nothing.
class RedisServer {
public:
    explicit RedisServer(std::vector<std::string> more = {}) : more_(std::move(more)) { start(); }

    std::uint16_t port() const { return port_; }

    /// Again on the same port, after stop().
    void start() {
        std::vector<std::string> command{
            "redis-server",
            "--port",
            std::to_string(port_),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            folder_.path()
        };
        command.insert(command.end(), more_.begin(), more_.end());
        program_ = std::make_unique<Program>(Program::Start{
            .command = command,
            .environment = {},
            .folder = {},
            .output = folder_.path() / "log",
        });
        const bool runs = eventually([&] {
            return !program_->running() ||
                   read_file(folder_.path() / "log").find("Ready to accept") != std::string::npos;
        });
        if (!runs || !program_->running())
            throw std::runtime_error("redis-server: " + read_file(folder_.path() / "log"));
    }
    /// Ends it as a crash would, by its process id.
    void stop() {
        program_->signal(SIGKILL);
        program_->wait(std::chrono::seconds(10));
        program_.reset();
        std::filesystem::remove(folder_.path() / "log");
    }
    /// It stands still; its connections stay.
    void pause() const { program_->signal(SIGSTOP); }
    void resume() const { program_->signal(SIGCONT); }

    /// What redis-cli prints.
    std::string ask(std::vector<std::string> words) const {
        std::vector<std::string> command{"redis-cli", "-p", std::to_string(port_)};
        command.insert(command.end(), words.begin(), words.end());
        return run(command).output;
    }

private:
    const std::vector<std::string> more_;
    const TempFolder folder_{"workboard-redis"};
    const std::uint16_t port_ = free_port();
    std::unique_ptr<Program> program_;
};

}  // namespace svc::test

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace svc::automations {

/// A process at the other end of a socket, which is its file descriptor 0. It has no other, no
/// environment and no arguments but those given. It is gone when the object is.
class Child {
public:
    Child(const std::filesystem::path& program, const std::vector<std::string>& arguments);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    using Clock = std::chrono::steady_clock;
    enum class Talk { fine, late, over };

    /// Sends all of it. `over` when the process has ended.
    Talk send(std::string_view text, Clock::time_point until);
    /// The next line, without its end. `over` when there is none, or none within `most` bytes.
    Talk receive(std::string& line, std::size_t most, Clock::time_point until);

private:
    Talk wait_for(short events, Clock::time_point until) const;

    int socket_ = -1;
    pid_t pid_ = -1;
    std::string read_;  // and not yet given away
};

}  // namespace svc::automations

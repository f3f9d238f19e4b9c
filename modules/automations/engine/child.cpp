#include "modules/automations/engine/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace svc::automations {

namespace {

[[noreturn]] void fail(int error, const char* what) {
    throw std::system_error(error, std::generic_category(), what);
}

/// What posix_spawn is told: file descriptor 0 and no other, no signal blocked or ignored.
class Orders {
public:
    explicit Orders(int socket) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_adddup2(&actions_, socket, 0);
        posix_spawn_file_actions_addclosefrom_np(&actions_, 1);
        posix_spawn_file_actions_addchdir_np(&actions_, "/");
        posix_spawnattr_init(&attributes_);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        );
    }
    ~Orders() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    Orders(const Orders&) = delete;
    Orders& operator=(const Orders&) = delete;

    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

}  // namespace

Child::Child(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        fail(errno, "socketpair");
    fcntl(ends[1], F_SETFL, 0);  // the child's end blocks
    std::string name = program.filename();
    std::vector<char*> words{name.data()};
    for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    char* no_environment[] = {nullptr};
    const Orders orders(ends[1]);
    const int error = posix_spawn(
        &pid_, program.c_str(), &orders.actions_, &orders.attributes_, words.data(), no_environment
    );
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        fail(error, program.c_str());
    }
    socket_ = ends[0];
}

Child::~Child() {
    close(socket_);
    kill(pid_, SIGKILL);  // it is ours until it has been waited for
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Child::Talk Child::wait_for(short events, Clock::time_point until) const {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) return Talk::late;
        pollfd waiting{socket_, events, 0};
        const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
        if (ready > 0) return Talk::fine;
        if (ready < 0 && errno != EINTR) fail(errno, "poll");
    }
}

Child::Talk Child::send(std::string_view text, Clock::time_point until) {
    while (!text.empty()) {
        const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (count > 0) {
            text.remove_prefix(static_cast<std::size_t>(count));
            continue;
        }
        if (errno != EAGAIN && errno != EINTR) return Talk::over;
        if (const Talk talk = wait_for(POLLOUT, until); talk != Talk::fine) return talk;
    }
    return Talk::fine;
}

Child::Talk Child::receive(std::string& line, std::size_t most, Clock::time_point until) {
    for (std::size_t searched = 0;;) {
        const auto end = read_.find('\n', searched);
        if (end != std::string::npos && end <= most) {
            line = read_.substr(0, end);
            read_.erase(0, end + 1);
            return Talk::fine;
        }
        if (end != std::string::npos || read_.size() > most) return Talk::over;
        searched = read_.size();
        if (const Talk talk = wait_for(POLLIN, until); talk != Talk::fine) return talk;
        char bytes[16 << 10];
        const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
        if (count > 0) read_.append(bytes, static_cast<std::size_t>(count));
        else if (count == 0 || (errno != EAGAIN && errno != EINTR)) return Talk::over;
    }
}

}  // namespace svc::automations

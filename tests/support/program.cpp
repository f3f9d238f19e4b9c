#include "tests/support/program.hpp"

#include "tests/support/places.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace svc::test {

namespace {

// Prepared before the fork: between fork and exec nothing may be allocated.
struct Words {
    explicit Words(const std::vector<std::string>& words) : kept(words) {
        for (auto& word : kept) pointers.push_back(word.data());
        pointers.push_back(nullptr);
    }
    std::vector<std::string> kept;
    std::vector<char*> pointers;
};

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
    std::vector<std::string> out = added;
    for (char** each = environ; *each; ++each) {
        const std::string pair = *each;
        const auto name = pair.substr(0, pair.find('=') + 1);
        bool replaced = false;
        for (const auto& other : added) replaced |= other.starts_with(name);
        if (!replaced) out.push_back(pair);
    }
    return out;
}

[[noreturn]] void become(
    Words& command,
    Words& environment,
    const std::filesystem::path& folder,
    int in,
    int out,
    int err
) {
    // A test that is killed takes its programs along.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(in, 0);
    if (out >= 0) ::dup2(out, 1);
    if (err >= 0) ::dup2(err, 2);
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
    ::execvpe(command.pointers[0], command.pointers.data(), environment.pointers.data());
    ::_exit(127);
}

int exit_code(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TempFolder::TempFolder(const std::string& name) {
    std::string pattern = (memory_folder() / (name + ".XXXXXX")).string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make a folder " + pattern);
    path_ = pattern;
    // The database may run as another user than the test.
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Program::Program(const Start& start) {
    Words command(start.command), environment(environment_with(start.environment));
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto output = start.output.empty() ? "/dev/null" : start.output;
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    pid_ = ::fork();
    if (pid_ == 0) become(command, environment, start.folder, in, out, out);
    ::close(in);
    ::close(out);
    if (pid_ < 0) throw std::runtime_error("cannot start " + start.command.front());
}

Program::~Program() {
    if (!running()) return;
    signal(SIGKILL);
    wait(std::chrono::seconds(10));
}

void Program::signal(int number) const {
    if (!code_) ::kill(pid_, number);
}

std::optional<int> Program::wait(std::chrono::milliseconds at_most) {
    const auto end = std::chrono::steady_clock::now() + at_most;
    for (;;) {
        if (code_) return code_;
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            code_ = exit_code(status);
            return code_;
        }
        if (std::chrono::steady_clock::now() >= end) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

Finished run(
    const std::vector<std::string>& command,
    const std::vector<std::string>& environment,
    const std::filesystem::path& folder,
    std::string_view input
) {
    Words words(command), variables(environment_with(environment));
    TempFolder scratch("workboard-run");
    write_file(scratch.path() / "in", input);
    const int in = ::open((scratch.path() / "in").c_str(), O_RDONLY | O_CLOEXEC);
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t pid = ::fork();
    if (pid == 0) become(words, variables, folder, in, pipe[1], -1);
    ::close(in);
    ::close(pipe[1]);
    Finished finished;
    char bytes[16384];
    for (ssize_t got; (got = ::read(pipe[0], bytes, sizeof bytes)) > 0;)
        finished.output.append(bytes, static_cast<std::size_t>(got));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    finished.code = exit_code(status);
    return finished;
}

std::string read_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("cannot read " + file.string());
    std::ostringstream text;
    text << stream.rdbuf();  // by blocks: tests read much, and are not optimized
    return std::move(text).str();
}

void write_file(const std::filesystem::path& file, std::string_view text) {
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::uint16_t free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
}

}  // namespace svc::test

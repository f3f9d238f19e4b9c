#include "db/programs.hpp"

#include "db/home.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace svc::db {

namespace fs = std::filesystem;

namespace {

constexpr int oldest_version = 15;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

bool holds_a_server(const fs::path& folder) {
    return access((folder / "postgres").c_str(), X_OK) == 0 &&
           access((folder / "initdb").c_str(), X_OK) == 0;
}

/// Debian keeps each major version in a folder of its number.
std::optional<fs::path> newest_packaged() {
    int newest = oldest_version - 1;
    std::optional<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
        const std::string name = entry.path().filename();
        int version = 0;
        std::from_chars(name.data(), name.data() + name.size(), version);
        if (version <= newest || !holds_a_server(entry.path() / "bin")) continue;
        newest = version;
        found = entry.path() / "bin";
    }
    return found;
}

std::optional<fs::path> on_the_path() {
    const char* path = getenv("PATH");
    std::string_view rest = path ? path : "";
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        const fs::path folder(rest.substr(0, colon));
        if (folder.is_absolute() && holds_a_server(folder)) return folder;
        rest = colon == rest.npos ? "" : rest.substr(colon + 1);
    }
    return std::nullopt;
}

std::optional<Account> account_named(const char* name) {
    std::array<char, 4096> buffer;
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name, &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return std::nullopt;
    return Account{name, entry.pw_uid, entry.pw_gid};
}

/// What the child needs, made before the fork: after it only plain system calls are safe.
struct Launch {
    explicit Launch(const Account& account, const std::vector<std::string>& words)
        : uid(account.uid), gid(account.gid), switches(geteuid() == 0 && account.uid != 0) {
        for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
    }

    [[noreturn]] void become(int output) const noexcept {
        setsid();
        const int nothing = open("/dev/null", O_RDONLY);
        if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
            _exit(126);
        close_range(3, ~0u, 0);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        for (int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) signal(each, SIG_DFL);
        umask(077);
        if (chdir("/") != 0) _exit(126);
        // The system calls themselves: the library's wrappers would talk to threads that the
        // child does not have.
        if (switches && (syscall(SYS_setgroups, 0, nullptr) != 0 ||
                         syscall(SYS_setresgid, gid, gid, gid) != 0 ||
                         syscall(SYS_setresuid, uid, uid, uid) != 0))
            _exit(126);
        execve(argv[0], argv.data(), environment);
        _exit(127);
    }

    uid_t uid;
    gid_t gid;
    bool switches;
    std::vector<char*> argv;
    static constexpr const char* bare[] = {
        "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", nullptr};
    char* const* environment = const_cast<char* const*>(bare);
};

pid_t launch(const Account& account, const std::vector<std::string>& words, int output) {
    const Launch plan(account, words);
    const pid_t child = fork();
    if (child < 0) fail("cannot start " + words.front());
    if (child == 0) plan.become(output);
    return child;
}

}  // namespace

fs::path postgres_programs() {
    if (auto found = newest_packaged()) return *found;
    if (auto found = on_the_path()) return *found;
    throw std::runtime_error(
        "no PostgreSQL 15 or later is installed; install the package postgresql-15, or set "
        "database.url"
    );
}

Account cluster_account() {
    if (geteuid() != 0) return {name_of_user(geteuid()), geteuid(), getegid()};
    for (const char* name : {"postgres", "nobody"})
        if (auto account = account_named(name)) return *account;
    throw std::runtime_error(
        "PostgreSQL does not run as root and there is neither a user postgres nor nobody"
    );
}

fs::path postgres_programs_for(const fs::path& data) {
    std::string version;
    std::ifstream(data / "PG_VERSION") >> version;
    if (version.empty()) return postgres_programs();
    const fs::path packaged = "/usr/lib/postgresql/" + version + "/bin";
    if (holds_a_server(packaged)) return packaged;
    const auto found = on_the_path();
    if (found && run_program(cluster_account(), {*found / "postgres", "--version"})
                         .output.find(" " + version + ".") != std::string::npos)
        return *found;
    throw std::runtime_error(
        "the database in " + data.string() + " was made by PostgreSQL " + version +
        "; install the package postgresql-" + version
    );
}

void make_private_folder(const fs::path& folder, const Account& account) {
    fs::create_directories(folder.parent_path());
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail("cannot make " + folder.string());
    struct stat state {};
    if (lstat(folder.c_str(), &state) != 0) fail("cannot look at " + folder.string());
    if (!S_ISDIR(state.st_mode)) throw std::runtime_error(folder.string() + " is not a folder");
    if (state.st_uid != account.uid) {
        // Somebody else's folder is not taken over: under /tmp it could be a trap.
        if (state.st_uid != geteuid())
            throw std::runtime_error(
                folder.string() + " belongs to another user, " + name_of_user(state.st_uid)
            );
        if (chown(folder.c_str(), account.uid, account.gid) != 0)
            fail("cannot give " + folder.string() + " to " + account.name);
    }
    if ((state.st_mode & 0777) != 0700 && chmod(folder.c_str(), 0700) != 0)
        fail("cannot close " + folder.string());
}

bool can_reach(const Account& account, const fs::path& folder) {
    for (fs::path at = fs::absolute(folder).lexically_normal(); at.has_relative_path();) {
        at = at.parent_path();
        struct stat state {};
        if (stat(at.c_str(), &state) != 0) continue;  // it is going to be made
        const mode_t mask = state.st_uid == account.uid   ? S_IXUSR
                            : state.st_gid == account.gid ? S_IXGRP
                                                          : S_IXOTH;
        if ((state.st_mode & mask) == 0) return false;
    }
    return true;
}

FileLock::FileLock(const fs::path& file, Share share)
    : file_(open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    if (file_ < 0) fail("cannot open " + file.string());
    while (flock(file_, share == Share::shared ? LOCK_SH : LOCK_EX) != 0)
        if (errno != EINTR) fail("cannot lock " + file.string());
}

FileLock::~FileLock() { close(file_); }

bool FileLock::try_exclusive() noexcept { return flock(file_, LOCK_EX | LOCK_NB) == 0; }

Finished run_program(const Account& account, const std::vector<std::string>& words) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe");
    const pid_t child = launch(account, words, ends[1]);
    close(ends[1]);
    std::string output;
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t count = read(ends[0], buffer.data(), buffer.size());
        if (count > 0) output.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR) break;
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::move(output)};
}

pid_t start_program(
    const Account& account, const std::vector<std::string>& words, const fs::path& log
) {
    const int output =
        open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (output < 0) fail("cannot write " + log.string());
    const pid_t child = launch(account, words, output);
    close(output);
    return child;
}

}  // namespace svc::db

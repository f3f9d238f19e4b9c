#include "db/cluster.hpp"

#include "svc/encoding.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace svc::db {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

/// The lines of postmaster.pid that we read.
enum PidLine { process = 0, status = 7 };

/// Nothing where there is no file. One that cannot be read, for want of descriptors for instance,
/// says nothing about the server: std::system_error.
std::string pid_file_line(const fs::path& data, PidLine wanted) {
    const fs::path path = data / "postmaster.pid";
    std::ifstream file(path);
    if (!file && errno != ENOENT && errno != ENOTDIR)
        throw std::system_error(errno, std::generic_category(), "cannot read " + path.string());
    std::string line;
    for (int at = 0; std::getline(file, line); ++at)
        if (at == wanted) return line;
    return {};
}

/// Reaps the process when it is our child, so that a dead one does not look alive.
bool alive(pid_t process) {
    waitpid(process, nullptr, WNOHANG);
    if (kill(process, 0) != 0) return false;
    // An orphan that nobody reaps (process 1 of some containers does not) is gone all the same.
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto name_end = text.rfind(')');
    return name_end == text.npos || name_end + 2 >= text.size() || text[name_end + 2] != 'Z';
}

pid_t named_in_pid_file(const fs::path& data) {
    const std::string line = pid_file_line(data, process);
    pid_t found = 0;
    std::from_chars(line.data(), line.data() + line.size(), found);
    return found;
}

/// A server sits in its data folder.
bool sits_in(pid_t process, const fs::path& data) {
    std::error_code hidden;
    const auto folder = fs::read_symlink("/proc/" + std::to_string(process) + "/cwd", hidden);
    return !hidden && folder == fs::weakly_canonical(data);
}

std::string last_lines(const fs::path& file) {
    std::ifstream in(file);
    std::string line, last;
    while (std::getline(in, line)) {
        last += line + '\n';
        if (last.size() > 1500) last.erase(0, last.find('\n') + 1);
    }
    return last;
}

}  // namespace

void Cluster::create(const std::vector<std::string>& how) {
    if (fs::exists(plan_.data)) return;
    // Under another name until it is whole.
    fs::path making = plan_.data;
    making += ".new";
    fs::remove_all(making);
    make_private_folder(making, plan_.account);
    // Text is UTF-8 and sorts by code point everywhere, whatever the locale of the machine; which
    // characters are letters, and their case, is as Unicode has it, so that search knows words of
    // any script.
    std::vector<std::string> words{
        plan_.programs / "initdb",
        "--pgdata=" + making.string(),
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--lc-ctype=C.UTF-8",
        "--no-instructions"};
    words.insert(words.end(), how.begin(), how.end());
    const Finished made = run_program(plan_.account, words);
    if (made.status != 0)
        throw std::runtime_error("initdb in " + making.string() + " failed: " + made.output);
    fs::rename(making, plan_.data);
}

pid_t Cluster::running() const {
    const pid_t found = named_in_pid_file(plan_.data);
    return found > 0 && alive(found) && sits_in(found, plan_.data) ? found : 0;
}

bool Cluster::ready() const { return pid_file_line(plan_.data, status).starts_with("ready"); }

void Cluster::forget_stale_pid_file() const {
    // PostgreSQL sees by itself that there is no such process, but not that it is dead and nobody
    // has reaped it, or that the number has been given to another program since.
    const pid_t found = named_in_pid_file(plan_.data);
    if (found > 0 && kill(found, 0) == 0 && running() == 0)
        fs::remove(plan_.data / "postmaster.pid");
}

void Cluster::rotate_log() const {
    constexpr std::uintmax_t most = 8 << 20;
    std::error_code none;
    if (fs::file_size(log(), none) > most && !none)
        fs::rename(log(), log().string() + ".old", none);
}

pid_t Cluster::launch() const {
    forget_stale_pid_file();
    rotate_log();
    make_private_folder(plan_.socket, plan_.account);
    std::vector<std::string> words{
        plan_.programs / "postgres",
        "-D",
        plan_.data,
        "-c",
        "unix_socket_directories=" + plan_.socket.string(),
        "-c",
        "listen_addresses=",
        "-c",
        "port=5432"};
    for (const std::string& setting : plan_.settings) {
        words.push_back("-c");
        words.push_back(setting);
    }
    return start_program(plan_.account, words, log());
}

void Cluster::start() {
    constexpr auto patience = 60s;  // recovery after a crash may take its time
    constexpr int attempts = 3;     // what a killed server left may need a moment to end
    const FileLock starting(plan_.data.parent_path() / "postgres.lock");
    const auto deadline = std::chrono::steady_clock::now() + patience;
    pid_t launched = 0;
    int launches = 0;
    while (running() == 0 || !ready()) {
        if (running() == 0 && (launched == 0 || !alive(launched))) {
            if (launches == attempts)
                throw std::runtime_error("PostgreSQL did not start:\n" + last_lines(log()));
            if (launches++ > 0) std::this_thread::sleep_for(300ms);
            launched = launch();
        }
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error(
                "PostgreSQL is not ready after a minute; see " + log().string()
            );
        std::this_thread::sleep_for(5ms);
    }
}

bool Cluster::stop(Stop how, std::chrono::milliseconds at_most) noexcept {
    try {
        const pid_t server = running();
        if (server == 0) return true;
        kill(server, how == Stop::fast ? SIGINT : SIGQUIT);
        const auto deadline = std::chrono::steady_clock::now() + at_most;
        while (alive(server)) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

std::string Cluster::url(std::string_view user, std::string_view database) const {
    return "postgresql://" + percent_encoded(user) + "@/" + percent_encoded(database) +
           "?port=5432&host=" + percent_encoded(plan_.socket.string());
}

}  // namespace svc::db

#include "process.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace svc::bench {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> tasks_of(pid_t pid) {
    std::vector<fs::path> out;
    std::error_code gone;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone))
        out.push_back(task.path());
    return out;
}

/// A value of /proc/<pid>/status, in its own unit (kB for memory).
double status_of(pid_t pid, const std::string& key) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1));
    return 0;
}

}  // namespace

std::vector<pid_t> tree_of(pid_t pid) {
    std::vector<pid_t> out{pid};
    for (const auto& task : tasks_of(pid)) {
        std::ifstream children(task / "children");
        for (pid_t child; children >> child;)
            for (const pid_t each : tree_of(child)) out.push_back(each);
    }
    return out;
}

double cpu_nanoseconds(pid_t pid) {
    double sum = 0;
    for (const pid_t process : tree_of(pid)) {
        for (const auto& task : tasks_of(process)) {
            std::ifstream file(task / "schedstat");
            double running = 0;
            if (file >> running) sum += running;
        }
    }
    return sum;
}

int threads_of(pid_t pid) { return static_cast<int>(status_of(pid, "Threads")); }

double own_memory(pid_t pid) { return status_of(pid, "RssAnon") * 1024; }

double resident_memory(pid_t pid) {
    double sum = 0;
    for (const pid_t process : tree_of(pid)) sum += resident_memory_alone(process);
    return sum;
}

double resident_memory_alone(pid_t pid) { return status_of(pid, "VmRSS") * 1024; }

}  // namespace svc::bench

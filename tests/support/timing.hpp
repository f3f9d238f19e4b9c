#pragma once

#include "tests/support/postgres.hpp"
#include "tests/support/server.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

/// Times in tests, on machines that do other things as well.
namespace svc::test {

/// The shortest of at most `tries` runs of what gives its time; of no more than are needed to be
/// within `bound`. A busy machine may be as slow as a fault, but not every time.
template <class Run>
auto quickest(int tries, std::chrono::milliseconds bound, Run run) -> decltype(run()) {
    auto best = run();
    for (int i = 1; i < tries && best > bound; ++i) best = std::min(best, run());
    return best;
}

/// Processor time that this thread takes for `work`.
template <class Work>
std::chrono::nanoseconds processor_time(Work work, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
    const auto now = [&] {
        timespec time{};
        clock_gettime(clock, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    const auto begun = now();
    work();
    return now() - begun;
}

/// Processor time that a process takes meanwhile, for whatever it does.
template <class Work>
std::chrono::nanoseconds process_time(pid_t process, Work work) {
    clockid_t clock{};
    clock_getcpuclockid(process, &clock);
    return processor_time(work, clock);
}

/// Processor time that a process of one thread has taken so far, in nanoseconds.
inline std::int64_t taken_by(const std::string& process) {
    std::int64_t nanoseconds = 0;
    std::ifstream("/proc/" + process + "/schedstat") >> nanoseconds;
    return nanoseconds;
}

/// Processor time that all sessions in a database take for `work`, which ends none of them.
template <class Work>
std::chrono::nanoseconds database_time(const std::string& database_url, Work work) {
    const auto by_session = [&] {
        std::map<std::string, std::int64_t> spent;
        std::istringstream pids(Postgres::shared().run(
            "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
            database_url
        ));
        for (std::string pid; pids >> pid;) spent[pid] = taken_by(pid);
        return spent;
    };
    const auto before = by_session();
    work();
    std::int64_t total = 0;
    for (const auto& [pid, spent] : by_session()) {
        const auto known = before.find(pid);
        total += spent - (known == before.end() ? 0 : known->second);
    }
    return std::chrono::nanoseconds(total);
}

/// Processor time that a server and its database take together for `work`, in seconds.
template <class Work>
double server_time(const Server& server, Work work) {
    std::chrono::nanoseconds by_server{};
    const auto by_database = database_time(server.options().database_url, [&] {
        by_server = process_time(server.pid(), work);
    });
    return std::chrono::duration<double>(by_server + by_database).count();
}

}  // namespace svc::test

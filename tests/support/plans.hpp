#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// How PostgreSQL is made to plan the statements of a test program, so that what a program answers
/// is seen not to hang on plans, and what its statements cost it then.
namespace svc::test {

class Postgres;

/// Three variables say what to do; without them nothing is done.
///
/// SVC_PLANS: words with commas between them. `enable_nestloop=off` and other settings of the
/// planner hold for the databases of this program; `statistics=fresh` has their tables analyzed
/// all the time; `statistics=skewed` makes PostgreSQL believe that every other table is huge and
/// the rest is empty. Otherwise nobody analyzes them, but for the server itself.
///
/// SVC_COSTS_TO: a file for what each statement costs: pages touched and rows, for each time.
/// SVC_COSTS_OF: such a file, of an earlier run; a statement that costs more than ten times what it
/// did is a failed test.
class Plans {
public:
    /// Of a database of `postgres` that has just been made: its URL from now on.
    static std::string apply(const Postgres& postgres, const std::string& name, std::string url);

private:
    explicit Plans(const Postgres& postgres);
    ~Plans();
    void watch();

    const Postgres& postgres_;
    std::string settings_, in_url_, upkeep_;
    std::mutex mutex_;
    std::vector<std::string> urls_;
    bool ending_ = false;
    std::thread watcher_;
};

}  // namespace svc::test

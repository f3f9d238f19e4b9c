#pragma once

#include "figure.hpp"
#include "lab.hpp"
#include "load.hpp"
#include "tests/support/database_role.hpp"
#include "work.hpp"

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

/// What pieces of work cost: the database, and the server itself.
namespace svc::bench {

/// Reads what a cluster has used.
class DatabaseMeter {
public:
    explicit DatabaseMeter(const Lab& lab);

    /// Nanoseconds of processor time of all its processes so far, background ones included.
    double cpu_ns() const;
    /// Where the write-ahead log ends, in bytes.
    double wal_end();
    /// Bytes that were logged since then, but for pages as a whole: behind a checkpoint whoever
    /// changes a page first logs it, so what they cost is a matter of the moment.
    double wal_bytes_since(double end);
    /// Waits until the cluster has come to rest: what was asked of it writes no more log.
    void settle();

private:
    pid_t postmaster_;
    test::DatabaseRole connection_;  // kept, for a new one costs as much as some pieces of work
};

/// Of each round; all but the first for one piece of work.
struct Costs {
    std::vector<double> per_second;
    std::vector<double> database_us;  ///< processor time
    std::vector<double> server_us;    ///< processor time of the server, also beside a peer
    std::vector<double> wal_bytes;
};
using Cost = std::vector<double> Costs::*;

/// Ways to do the same work, what each costs.
class Contest {
public:
    using Work = std::function<WorkedOff()>;

    explicit Contest(Lab& lab) : lab_(lab) {}
    Contest(const Contest&) = delete;
    Contest& operator=(const Contest&) = delete;

    /// `prepare` is called in each round and does what is not measured.
    void add(const std::string& name, const std::function<Work()>& prepare) {
        add(name, lab_, prepare);
    }
    /// The same on another server and its database.
    void add(const std::string& name, Lab& lab, const std::function<Work()>& prepare);
    void run(int rounds) { alternate(variants_, rounds); }

    double median_of(const std::string& name, Cost cost) const;
    double ratio(const std::string& a, const std::string& b, Cost cost) const {
        return median_of(a, cost) / median_of(b, cost);
    }
    /// The rounds of all of them, for a figure.
    boost::json::object made_of(Cost cost) const;

private:
    double measure(Costs& costs, Lab& lab, const Work& work);

    Lab& lab_;
    std::map<Lab*, DatabaseMeter> meters_;
    std::vector<Variant> variants_;
    std::map<std::string, Costs> costs_;
};

/// Sixteen clients that send one of `requests` each, for the time that `plan` says.
inline Contest::Work asked(Lab& lab, const Plan& plan, std::vector<std::string> requests) {
    return [&lab, seconds = plan.seconds, requests = std::move(requests)] {
        return ask(lab, seconds, requests);
    };
}

}  // namespace svc::bench

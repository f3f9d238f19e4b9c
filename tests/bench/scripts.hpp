#pragma once

#include "lab.hpp"
#include "load.hpp"
#include "statements.hpp"

#include <filesystem>
#include <functional>
#include <optional>

/// Requests, made into pgbench scripts of what they do to the database.
namespace svc::bench {

struct Done {
    std::string mark;  ///< an id that stands in every transaction of the requests
    std::optional<Found> found;
};
using Work = std::function<Done(Presser&)>;

/// A script for each board, card or way the work can go.
class Scripts {
public:
    /// Records `work`, which makes so many transactions, three times.
    void add(Lab& lab, std::size_t expected, const Work& work);
    const std::vector<std::filesystem::path>& files() const { return files_; }
    double statements_each() const {
        return static_cast<double>(statements_) / static_cast<double>(files_.size());
    }

private:
    test::TempFolder folder_{"workboard-pgbench"};
    std::vector<std::filesystem::path> files_;
    std::size_t statements_ = 0;
};

/// What the scripts have to have written: what the statement `count` counts, by at least so many of
/// the runs. Scripts that write nothing would be fast.
struct Writes {
    std::string count;
    double share = 0.9;
};
/// How many of the scripts pgbench runs in a second. Throws when they have not written that.
double writing_rate(
    Lab& lab, const Scripts& scripts, int clients, double seconds, const Writes& writes
);

}  // namespace svc::bench

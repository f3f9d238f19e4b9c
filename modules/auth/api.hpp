#pragma once

#include "svc/types.hpp"

#include <mutex>
#include <set>
#include <utility>
#include <vector>

/// What auth offers to other modules that let callers in.
namespace svc::auth {

/// Who was seen since the last look. Requests note it in passing and a job writes it down, so
/// that no request waits for such a write and no row is written more often than the job runs.
/// Any thread.
template <class Who>
class Sightings {
public:
    void note(const Who& who) {
        std::lock_guard lock(mutex_);
        seen_.insert(who);
    }
    std::vector<Who> take() {
        std::set<Who> taken;
        {
            std::lock_guard lock(mutex_);
            taken.swap(seen_);
        }
        return {taken.begin(), taken.end()};
    }

private:
    std::mutex mutex_;
    std::set<Who> seen_;
};

}  // namespace svc::auth

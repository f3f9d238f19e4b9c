#pragma once

#include <exception>

namespace svc::queue {

/// Calls `work` with each. What goes wrong with one is not to hold up the others, and is thrown
/// once they are done.
template <class All, class Work>
void each_by_itself(const All& all, Work work) {
    std::exception_ptr problem;
    for (const auto& each : all) {
        try {
            work(each);
        } catch (const std::exception&) {
            problem = std::current_exception();
        }
    }
    if (problem) std::rethrow_exception(problem);
}

}  // namespace svc::queue

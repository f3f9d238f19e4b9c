#pragma once

#include "modules/auth/preferences.hpp"
#include "svc/call.hpp"

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

/// The port: pictures that people upload for their profiles. Offered by whoever keeps files;
/// without one no picture can be chosen.
class Pictures {
public:
    static constexpr std::string_view name = "auth.Pictures";
    virtual ~Pictures() = default;

    /// The lasting public address of a picture that the call's person has uploaded; nothing when
    /// there is none of that id.
    virtual std::optional<Url> address_of(Call& call, const Uuid& file) = 0;
};

}  // namespace svc::auth

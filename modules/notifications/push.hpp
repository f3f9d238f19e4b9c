#pragma once

#include "svc/kernel.hpp"

#include <mutex>
#include <set>

namespace svc::live {
class PersonalStreams;
}

namespace svc::notifications {

/// Tells the pages that people have open that their notifications have changed, and nothing of
/// what: they ask, and are shown what they may see then. On every server, for its own streams. Any
/// thread.
class Push {
public:
    static constexpr std::string_view name = "notifications.Push";  ///< offered to its parts

    explicit Push(Kernel& kernel);

    /// Something has changed in that workspace, and is committed.
    void changed(const Uuid& org);

private:
    void look_now_and_then();
    void look(live::PersonalStreams& streams, const Uuid& org);

    Kernel& kernel_;
    std::mutex mutex_;
    std::set<Uuid> changed_;  // under mutex_
    // The timer's own.
    std::map<Uuid, std::map<Uuid, std::int64_t>> told_;  // by workspace and person: which news
    int beats_ = 0;
};

}  // namespace svc::notifications

#pragma once

#include "modules/auth/api.hpp"
#include "svc/kernel.hpp"

namespace svc::notifications {

/// Sums up in a mail what somebody has not read, when they want it: one for each workspace.
void add_digests(Kernel& kernel);

/// Digests that wait come when their owner wants them from now on.
class DigestTimes final : public auth::PreferencesWatcher {
public:
    void changed(Tx& tx, const Uuid& person, const auth::Preferences& chosen) override;
};

}  // namespace svc::notifications

#pragma once

#include "modules/notifications/drafts.hpp"
#include "modules/notifications/settings.hpp"
#include "svc/kernel.hpp"

namespace svc::notifications {

/// Writes what somebody is told: in the product, by mail, or both, as they chose. Whoever may not
/// see it is left out. In the transaction, which acts for all workspaces.
class Telling {
public:
    Telling(const Kernel& kernel, const Settings& settings)
        : kernel_(kernel), settings_(settings) {}

    /// The workspaces whose open pages have something new to show.
    std::set<Uuid> tell(Tx& tx, const Draft& draft) const;

private:
    struct Reader;
    std::set<Uuid> whom_to_mail(Tx& tx, const Draft& draft, const std::vector<Uuid>& people) const;
    void tell_members(Tx& tx, const Draft& draft, std::vector<Reader> readers) const;
    std::set<Uuid> tell_stranger(Tx& tx, const Draft& draft) const;
    static bool add_to_inbox(Tx& tx, const Draft& draft, const Reader& reader);

    const Kernel& kernel_;
    const Settings settings_;
};

}  // namespace svc::notifications

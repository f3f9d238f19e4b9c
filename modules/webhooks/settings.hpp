#pragma once

#include "svc/record.hpp"

namespace svc::webhooks {

struct Settings {
    static constexpr std::string_view name = "webhooks.Settings";  ///< offered to the operations

    std::int64_t per_workspace = 100;
    bool allow_private_targets = false;
    std::string ca_file;
    std::int64_t connect_seconds = 5;
    std::int64_t timeout_seconds = 10;
    std::int64_t at_once = 1'000;
    std::int64_t at_once_per_workspace = 250;
    std::int64_t disable_days = 5;
    std::int64_t keep_days = 30;
    std::int64_t held_per_webhook = 10'000;
    std::int64_t held_per_workspace = 100'000;
};
SVC_SHARED_RECORD(
    Settings,
    (per_workspace, "How many webhooks a workspace may have, then 402.", range(1, 10'000), defaulted
    ),
    (allow_private_targets,
     "true: events may be sent to any address and port, those of this machine and its networks "
     "included, and over plain http. Meant for tests and intranets whose members are trusted with "
     "them.",
     defaulted),
    (ca_file,
     "A PEM file with the authorities that may vouch for endpoints; empty: the system's.",
     defaulted),
    (connect_seconds, "For a connection to an endpoint.", range(1, 60), defaulted),
    (timeout_seconds, "For one delivery, connecting included.", range(1, 60), defaulted),
    (at_once, "Deliveries that a server sends at the same time.", range(1, 10'000), defaulted),
    (at_once_per_workspace,
     "Of these for one workspace; for one webhook it is 4, and 1 while its endpoint fails.",
     range(1, 10'000),
     defaulted),
    (disable_days,
     "A webhook whose endpoint has failed for so long without a success is disabled; admins are "
     "told after one day, after three, and then.",
     range(1, 365),
     defaulted),
    (keep_days,
     "How long deliveries are listed; also how long they are held for a webhook that is not "
     "active.",
     range(1, 3'650),
     defaulted),
    (held_per_webhook,
     "How many deliveries are held for a webhook that is not active or whose endpoint is left "
     "alone because it fails; beyond that, and up to a tenth more, those that have been due for "
     "longest are dropped.",
     range(10, 1'000'000),
     defaulted),
    (held_per_workspace,
     "How many may wait in all for the webhooks of a workspace, those that are being sent "
     "included; the one with most gives way.",
     range(10, 10'000'000),
     defaulted)
);

}  // namespace svc::webhooks

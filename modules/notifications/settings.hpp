#pragma once

#include "svc/record.hpp"

#include <cstdint>

namespace svc::notifications {

struct Settings {
    std::int64_t keep_days = 90;
    std::int64_t due_hours = 24;
    std::int64_t mails_per_hour = 30;
};
SVC_SHARED_RECORD(
    Settings,
    (keep_days, "How long notifications are kept, read or not.", range(1, 3'650), defaulted),
    (due_hours,
     "How long before a card is due its assignees are told, and `card.due` is emitted.",
     range(1, 720),
     defaulted),
    (mails_per_hour,
     "How many single notifications are mailed to one person in an hour for one workspace; what "
     "comes beyond that is in the product and in the digest. 0: none.",
     range(0, 10'000),
     defaulted)
);

}  // namespace svc::notifications

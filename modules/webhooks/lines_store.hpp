#pragma once

#include "modules/webhooks/lib/line.hpp"
#include "modules/webhooks/lib/target.hpp"
#include "svc/kernel.hpp"

#include <map>

/// What whoever sends reads and writes. All transactions act for all workspaces.
namespace svc::webhooks {

struct LineKey {
    Uuid org_id, webhook_id;
    auto operator<=>(const LineKey&) const = default;
};

/// Endpoints that something is due for and that nobody sends to, at most so many: leased from now
/// on.
std::vector<Line> take_lines(Tx& tx, const Uuid& lease, std::int64_t most);

/// Leases the endpoints for longer; those that are still leased.
std::vector<LineKey> extend(Tx& tx, const Uuid& lease, const std::vector<LineKey>& lines);

/// Reads where each is sent to now, and the next deliveries that are due and not under way.
void read_lines(Kernel& kernel, Reach reach, Tx& tx, const std::vector<Line*>& lines);

/// What attempts came to.
struct Settled {
    const Line* line = nullptr;
    std::vector<Attempted> attempts;
    bool succeeded = false, failed = false;  ///< one of them at least
};
/// How long an endpoint has been failing, and how many mails have told of it.
struct Failing {
    std::int64_t seconds = 0, alerts = 0;
};
/// Writes it down; of each line whose endpoint fails, how it stands with that.
std::map<LineKey, Failing> write(Tx& tx, const Uuid& lease, const std::vector<Settled>& settled);

/// Lets the endpoints go, until something is due again; whether something is at once.
bool release(Tx& tx, const Uuid& lease, const std::vector<const Line*>& lines);

}  // namespace svc::webhooks

#pragma once

#include "modules/webhooks/lib/line.hpp"
#include "modules/webhooks/lib/target.hpp"
#include "svc/kept_events.hpp"
#include "svc/kernel.hpp"

#include <map>
#include <set>

/// What whoever sends reads and writes. All transactions act for all workspaces, all statements but
/// the one that looks for what is due for one of them each.
namespace svc::webhooks {

struct LineKey {
    Uuid org_id, webhook_id;
    auto operator<=>(const LineKey&) const = default;
};
inline LineKey key_of(const Line& line) { return {line.org_id, line.webhook_id}; }

struct Taken {
    std::vector<LineKey> lines;
    bool more = false;  ///< there are perhaps others
};
/// Endpoints that something is due for and that nobody sends to, at most so many: leased from now
/// on.
Taken take_lines(Tx& tx, const Uuid& lease, std::int64_t most);

/// Leases the endpoints for longer; those that are still leased.
std::vector<LineKey> extend(Tx& tx, const Uuid& lease, const std::vector<LineKey>& lines);

/// Leaves the leases that run out later no longer than that.
void shorten(
    Tx& tx, const Uuid& lease, const std::vector<LineKey>& lines, std::chrono::seconds left
);

/// Reads where each is sent to now and how it fares, and the next deliveries that are due and not
/// under way.
void read_lines(Kernel& kernel, Reach reach, Tx& tx, const std::vector<Line*>& lines);

struct Fetched {
    std::vector<StoredEvent> events;  ///< those at the positions, as far as they are still kept
    std::set<LineKey> changed;        ///< webhooks that were changed, are not active or are gone
};
/// What is asked for right before something is sent: events, and what has become of these webhooks
/// since they were read.
Fetched fetch(Tx& tx, const std::set<const Line*>& lines, const std::set<std::int64_t>& positions);

/// The epochs of those that are still leased, which stay so for this transaction.
std::map<LineKey, std::int64_t> lock_epochs(
    Tx& tx, const Uuid& lease, const std::set<LineKey>& lines
);

/// What attempts came to.
struct Settled {
    const Line* line = nullptr;
    std::vector<Attempted> attempts;
    bool succeeded = false, failed = false;  ///< one of them at least, in this epoch
};
/// How long an endpoint has been failing, and how many mails have told of it.
struct Failing {
    std::int64_t seconds = 0, alerts = 0;
};
struct Written {
    std::map<LineKey, Failing> failing;  ///< how it stands with each line whose endpoint fails
    std::set<LineKey> asked_again;  ///< some of its deliveries were asked for once more meanwhile
};
/// Writes it down, as far as the endpoint is still leased and in the same epoch. A delivery that
/// was asked for once more stays due.
Written write(Tx& tx, const Uuid& lease, const std::vector<Settled>& settled);

/// Lets the endpoints go, until something is due again; whether something is at once.
bool release(Tx& tx, const Uuid& lease, const std::vector<const Line*>& lines);

}  // namespace svc::webhooks

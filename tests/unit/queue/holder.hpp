#pragma once

#include "tests/unit/boards/world.hpp"

/// What the tests of leases do as the holder of one, and to the clock.
namespace svc::test {

/// What the holder of a claim says about it.
inline Said say(
    const Caller& who, const char* word, const Said& claim, boost::json::object what = {}
) {
    what["lease_id"] = claim.text("/lease/id");
    what["lease_token"] = claim.text("/lease_token");
    return world().ask(who, word, what);
}

/// As if the time were over: the row is what counts, and the sweeper looks at it.
inline void let_expire(const Said& claim) {
    world().run(
        "UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    world().run_job("queue.expire_leases");
}

inline void let_pause_end(const Said& claim) {
    world().run(
        "UPDATE queue SET available_at = now() - interval '1 second' WHERE card_id = '" +
        claim.text("/card/id") + "'"
    );
    world().run_job("queue.end_pauses");
}

inline std::vector<std::string> claim_all(Desk& desk) {
    std::vector<std::string> titles;
    for (;;) {
        const Said claim = desk.claim();
        if (!claim.body.at("claimed").as_bool()) return titles;
        titles.push_back(claim.text("/card/title"));
    }
}

}  // namespace svc::test

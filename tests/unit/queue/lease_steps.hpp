#pragma once

#include "tests/support/in_process_server.hpp"

/// What the tests of leases do as the holder of one, and to the clock.
namespace svc::test {

/// What the holder of a claim says about it.
inline Answer say(
    const Caller& who, const char* word, const Answer& claim, boost::json::object what = {}
) {
    what["lease_id"] = claim.text("/lease/id");
    what["lease_token"] = claim.text("/lease_token");
    return in_process().ask(who, word, what);
}

/// As if the time were over: the row is what counts, and the sweeper looks at it.
inline void let_expire(const Answer& claim) {
    in_process().run(
        "UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    in_process().run_job("queue.expire_leases");
}

inline void let_pause_end(const Answer& claim) {
    in_process().run(
        "UPDATE queue SET available_at = now() - interval '1 second' WHERE card_id = '" +
        claim.text("/card/id") + "'"
    );
    in_process().run_job("queue.end_pauses");
}

inline std::vector<std::string> claim_all(BoardFixture& fixture) {
    std::vector<std::string> titles;
    for (;;) {
        const Answer claim = fixture.claim();
        if (!claim.body.at("claimed").as_bool()) return titles;
        titles.push_back(claim.text("/card/title"));
    }
}

}  // namespace svc::test

#include "costs.hpp"
#include "rest_queue.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <utility>

/// What requests that write cost the server itself, beside one that reads; and whether creating
/// cards on one board waits for others who do the same.
namespace svc::bench {

namespace {

constexpr int boards = 16;

void measure_creates(Lab& lab, const Plan& plan, Report& report) {
    std::vector<std::string> requests;
    for (int i = 0; i < boards; ++i)
        requests.push_back(RestQueue(lab, fmt::format("Board {}", i)).create_request());
    const std::vector<std::string> one{requests.front()};
    ask(lab, 1, requests);
    Contest contest(lab);
    contest.add("one_board", [&] { return asked(lab, plan, one); });
    contest.add("sixteen_boards", [&] { return asked(lab, plan, requests); });
    contest.run(plan.rounds);
    report.figure(
        "create-card-one-board/sixteen_boards",
        contest.ratio("one_board", "sixteen_boards", &Costs::per_second),
        at_least(0.9),
        contest.made_of(&Costs::per_second)
    );
}

/// The server's own processor time, of a request each.
void measure_server(Lab& lab, const Plan& plan, Report& report) {
    // About as many as are worked off in that time: what a server does anyway, and until the
    // database has come to rest, weighs as little in each.
    const int cards = 2000 * plan.seconds;
    const auto reads = get_requests_apart(lab, lab.cards());
    RestQueue created(lab, "Created"), claimed(lab, "Claimed"), completed(lab, "Completed");
    const std::vector<std::string> create{created.create_request()};
    std::vector<HeldCard> still_held, to_complete;
    Contest contest(lab);
    contest.add("get_card", [&] { return asked(lab, plan, reads); });
    contest.add("create_card", [&] { return asked(lab, plan, create); });
    contest.add("claim_next_card", [&] {
        claimed.complete_all(std::exchange(still_held, {}));
        claimed.fill(cards);
        return [&] { return claimed.claim_all(cards, still_held); };
    });
    contest.add("complete_lease", [&] {
        to_complete.clear();
        completed.fill(cards);
        completed.claim_all(cards, to_complete);
        return [&] { return completed.complete_all(to_complete); };
    });
    contest.run(plan.rounds);
    for (const char* each : {"create_card", "claim_next_card", "complete_lease"})
        report.figure(
            fmt::format("server-{}/get_card", each),
            contest.ratio(each, "get_card", &Costs::server_us),
            at_most(2),
            contest.made_of(&Costs::server_us)
        );
}

}  // namespace

void measure_costs(Lab& lab, const Plan& plan, Report& report) {
    lab.restart({"automations.scripts="});
    report.note("over REST, 16 clients, without automations");
    measure_creates(lab, plan, report);
    measure_server(lab, plan, report);
    lab.restart();
}

}  // namespace svc::bench

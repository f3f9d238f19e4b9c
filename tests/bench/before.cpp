#include "costs.hpp"
#include "rest_queue.hpp"

#include <cstdlib>

/// The same requests to the server as it was before its statements were rewritten.
namespace svc::bench {

void measure_before(Lab& now, const Plan& plan, Report& report) {
    const char* checkout = std::getenv("WORKBOARD_BEFORE");
    if (!checkout) throw std::runtime_error("WORKBOARD_BEFORE names no commit to compare with");
    const std::vector<std::string> settings{"automations.scripts="};
    now.restart(settings);
    Lab before(checkout);
    before.restart(settings);

    Contest contest(now);
    const auto add = [&](const std::string& name, Lab& lab, std::vector<std::string> requests) {
        ask(lab, 1, requests);
        contest.add(name, lab, [&lab, &plan, requests = std::move(requests)] {
            return asked(lab, plan, requests);
        });
    };
    add("get_card_now", now, get_requests(now, now.cards()));
    add("get_card_before", before, get_requests(before, before.cards()));
    add("create_card_now", now, {RestQueue(now, "Created").create_request()});
    add("create_card_before", before, {RestQueue(before, "Created").create_request()});
    contest.run(plan.rounds);

    const auto compare = [&](const std::string& what, Cost cost, Bar bar) {
        report.figure(
            what + "/before",
            contest.ratio(what + "_now", what + "_before", cost),
            bar,
            contest.made_of(cost)
        );
    };
    compare("create_card", &Costs::per_second, at_least(3));
    compare("get_card", &Costs::database_us, at_most(0.65));
    now.restart();
}

}  // namespace svc::bench

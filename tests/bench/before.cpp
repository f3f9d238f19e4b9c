#include "costs.hpp"
#include "log_ins.hpp"
#include "rest_queue.hpp"

#include <cstdlib>

/// The same requests to the server as it was before its statements were rewritten.
namespace svc::bench {

namespace {

/// What people at work wait for who ask twenty times a second each while others log in.
void compare_log_ins(Lab& now, Lab& before, const Plan& plan, Report& report) {
    using std::chrono::milliseconds;
    const auto slowest = [&](Lab& lab) {
        const auto port = lab.server().port();
        Herd herd(port, 64, request_text("GET", "/v1/me", lab.token()));
        press_beside(herd, milliseconds(50), port, 1);
        return slowest_ms(press_beside(herd, milliseconds(50), port, plan.seconds).herd);
    };
    const std::vector<Variant> variants{
        {"now", [&] { return slowest(now); }},
        {"before", [&] { return slowest(before); }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "log-ins-busy-me-p99/before",
        median(values[0]) / median(values[1]),
        at_most(1.2),
        {{"milliseconds", rounds_of(variants, values)}}
    );
}

}  // namespace

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
    compare_log_ins(now, before, plan, report);
    now.restart();
}

}  // namespace svc::bench

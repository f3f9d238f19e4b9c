#include "wire.hpp"
#include "work.hpp"

#include <fmt/format.h>

/// How often a request goes to the database and back, authentication included.
namespace svc::bench {

namespace {

constexpr int requests = 200;

struct Counts {
    double trips = 0, requests = 0;
};

Counts reported(const Lab& lab, const std::string& operation) {
    const auto of = [&](const char* name) {
        return lab.metric(fmt::format("{}{{operation=\"{}\"}}", name, operation));
    };
    return {of("workboard_request_round_trips_total"), of("workboard_request_seconds_count")};
}

double trips_each(const Counts& before, const Counts& after) {
    return (after.trips - before.trips) / (after.requests - before.requests);
}

}  // namespace

void measure_trips(Lab& lab, const Plan&, Report& report) {
    const auto& board = lab.boards().front();
    const Wire wire(lab.database_url());
    Presser presser(lab.restart({}, wire.url()).port());
    Pair ways[] = {Pair(lab, board, 0), Pair(lab, board, 1)};
    int turn = 0;
    const auto get = [&] { presser.ask(get_request(lab, lab.cards().front())); };
    const auto create = [&] { presser.ask(create_request(lab, board)); };
    const auto pair = [&] { ways[turn++ % 2].run(presser); };
    // The first ones also prepare statements, and find out whose token this is.
    for (int i = 0; i < 40; ++i) get(), create(), pair();

    const std::vector<std::pair<std::string, double>> bars{
        {"get_card", 1}, {"create_card", 2}, {"claim_next_card", 2}, {"complete_lease", 2}};
    std::vector<Counts> before;
    for (const auto& [operation, bar] : bars) before.push_back(reported(lab, operation));
    const double reported_before = lab.metric("workboard_db_round_trips_total");
    const long counted_before = wire.round_trips();
    for (int i = 0; i < requests; ++i) get(), create(), pair();
    const double counted = static_cast<double>(wire.round_trips() - counted_before);
    const double reported_all = lab.metric("workboard_db_round_trips_total") - reported_before;
    for (std::size_t i = 0; i < bars.size(); ++i)
        report.figure(
            "round-trips-" + bars[i].first,
            trips_each(before[i], reported(lab, bars[i].first)),
            at_most(bars[i].second)
        );
    // The server's count is its own word; this is what went over the wire, its background jobs
    // included on both sides.
    report.figure(
        "round-trips-on-the-wire/reported",
        counted / reported_all,
        at_most(1.02),
        {{"counted", counted}, {"reported", reported_all}}
    );
    lab.restart();
}

}  // namespace svc::bench

#include "costs.hpp"
#include "crowd.hpp"
#include "mcp_request.hpp"
#include "process.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <thread>

/// What MCP costs beside REST, and what a stream of it holds.
namespace svc::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int streams = 1'000;

/// Milliseconds that half of the requests take at most, one after another.
double typical_ms(Presser& presser, const std::string& request, double seconds) {
    std::vector<double> milliseconds;
    for (const auto begin = Clock::now(); Clock::now() - begin < seconds * 1s;) {
        const auto sent = Clock::now();
        presser.ask(request);
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(Clock::now() - sent).count()
        );
    }
    return median(std::move(milliseconds));
}

void measure_lists(Lab& lab, const Plan& plan, Report& report) {
    Presser presser(lab.server().port());
    const auto list = mcp_request(lab.token(), "tools/list");
    const auto health = request_text("GET", "/healthz", "");
    const std::vector<Variant> variants{
        {"tools/list", [&] { return typical_ms(presser, list, plan.seconds); }},
        {"healthz", [&] { return typical_ms(presser, health, plan.seconds); }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "mcp-tools-list-p50/healthz",
        median(values[0]) / median(values[1]),
        at_most(3),
        rounds_of(variants, values)
    );
}

void measure_calls(Lab& lab, const Plan& plan, Report& report) {
    std::vector<std::string> calls;
    for (const auto& card : lab.cards())
        calls.push_back(mcp_request(
            lab.token(),
            "tools/call",
            fmt::format(R"("name":"get_card","arguments":{{"card_id":"{}"}},)", card),
            "get_card"
        ));
    const auto reads = get_requests_apart(lab, lab.cards());
    Contest contest(lab);
    contest.add("tools_call", [&] { return asked(lab, plan, calls); });
    contest.add("rest", [&] { return asked(lab, plan, reads); });
    contest.run(plan.rounds);
    report.figure(
        "mcp-get_card-server/rest",
        contest.ratio("tools_call", "rest", &Costs::server_us),
        at_most(1.4),
        contest.made_of(&Costs::server_us)
    );
}

void measure_streams(Lab& lab, Report& report) {
    auto& server = lab.restart({"mcp.streams_per_principal=10000"});
    const auto open = [&](Crowd& crowd, int count) {
        crowd.join(Crowd::Kind::mcp, server.port(), lab.token(), {}, count);
        std::this_thread::sleep_for(6s);  // until memory is given back that was free anyway
    };
    {
        Crowd first;  // what is made once for the first ones is not theirs
        open(first, streams / 10);
    }
    const double before = own_memory(server.pid());
    Crowd crowd;
    open(crowd, streams);
    report.figure(
        fmt::format("mcp-{}-streams-bytes-each", streams),
        (own_memory(server.pid()) - before) / streams,
        at_most(2048)
    );
}

}  // namespace

void measure_mcp(Lab& lab, const Plan& plan, Report& report) {
    lab.restart({"automations.scripts="});
    measure_lists(lab, plan, report);
    measure_calls(lab, plan, report);
    measure_streams(lab, report);
    lab.restart();
}

}  // namespace svc::bench

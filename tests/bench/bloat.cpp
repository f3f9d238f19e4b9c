#include "rest_queue.hpp"
#include "tests/support/database_role.hpp"
#include "tests/support/workspace.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

/// Whether a claim takes longer where many claims went before, where many cards wait, and while an
/// old snapshot keeps what is dead from being removed.
namespace svc::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int claims_of_a_round = 200;
constexpr double slower_at_most = 1.2;

/// How much is done to a column before its claims are timed.
struct Ageing {
    int claims, waiting, snapshot_seconds;
};
Ageing ageing(const Plan& plan) {
    return plan.extended ? Ageing{200'000, 100'000, 60} : Ageing{20'000, 10'000, 10};
}

/// One claim after another, each card completed before the next; the median claim, milliseconds.
double claim_ms(Lab& lab, RestQueue& queue) {
    Presser presser(lab.server().port());
    std::vector<double> took;
    for (int i = 0; i < claims_of_a_round; ++i) {
        const auto start = Clock::now();
        const auto held = queue.claim(presser);
        took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
        if (!held) throw std::runtime_error("there was nothing to claim");
        queue.complete(presser, *held);
    }
    return median(took);
}

double filled_claim_ms(Lab& lab, RestQueue& queue) {
    queue.fill_at_once(claims_of_a_round);
    return claim_ms(lab, queue);
}

/// Claims from a queue of few cards that hardly anything has happened to, beside others.
void compare(
    Lab& lab,
    const Plan& plan,
    Report& report,
    const std::string& name,
    const std::function<double()>& aged
) {
    RestQueue fresh(lab, "Fresh: " + name);
    const std::vector<Variant> variants{
        {"fresh", [&] { return filled_claim_ms(lab, fresh); }},
        {"aged", aged},
    };
    filled_claim_ms(lab, fresh);
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        name + "/fresh",
        median(values[1]) / median(values[0]),
        at_most(slower_at_most),
        {{"milliseconds", rounds_of(variants, values)}}
    );
}

void measure_after_claims(Lab& lab, const Plan& plan, Report& report, int claims) {
    RestQueue used(lab, "Used");
    constexpr int at_once = 10'000;
    for (int done = 0; done < claims; done += at_once) {
        used.fill_at_once(at_once);
        used.work_off(at_once);
    }
    report.note(fmt::format("{} claims went before", claims));
    compare(lab, plan, report, "claim-after-claims", [&] { return filled_claim_ms(lab, used); });
}

void measure_with_waiting(Lab& lab, const Plan& plan, Report& report, int waiting) {
    RestQueue full(lab, "Full");
    full.fill_at_once(waiting);
    report.note(fmt::format("{} cards are waiting", waiting));
    compare(lab, plan, report, "claim-with-waiting-cards", [&] {
        return filled_claim_ms(lab, full);
    });
}

/// Queues of the lab's workspace with a few cards each, besides those that are measured.
void add_queues(Lab& lab, int queues) {
    constexpr int of_a_board = 50, cards = 10;
    auto client = lab.server().client();
    client.token(lab.token());
    for (int made = 0; made < queues; made += of_a_board) {
        boost::json::array columns;
        for (int i = 0; i < of_a_board; ++i)
            columns.push_back({{"name", fmt::format("Queue {}", i)}, {"kind", "queue"}});
        const boost::json::value body{{"name", "Many queues"}, {"columns", columns}};
        const auto board = test::expect(201, client.post("/v1/boards", body));
        for (int i = 0; i < of_a_board; ++i)
            put_work(
                lab,
                board.text("/id"),
                board.text(fmt::format("/column_ids/{}", i)),
                i * cards,
                cards
            );
    }
}

/// Beside a server whose workspace has two or three queues.
void measure_with_queues(Lab& lab, const Plan& plan, Report& report) {
    constexpr int queues = 1'000;
    Lab beside;
    beside.restart({"automations.scripts="});
    RestQueue of_few(beside, "Of few"), of_many(lab, "Of many");
    add_queues(lab, queues);
    const std::vector<Variant> variants{
        {"few", [&] { return filled_claim_ms(beside, of_few); }},
        {"many", [&] { return filled_claim_ms(lab, of_many); }},
    };
    for (const auto& each : variants) each.measure();
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "claim-with-1000-queues/few",
        median(values[1]) / median(values[0]),
        at_most(slower_at_most),
        {{"milliseconds", rounds_of(variants, values)}}
    );
}

/// Sixteen workers work for as long as the snapshot is open; then claims are timed, with it still
/// open. The other queue's are timed without one.
void measure_under_snapshot(Lab& lab, const Plan& plan, Report& report, int seconds) {
    RestQueue worked(lab, "Worked");
    report.note(fmt::format("a snapshot has been open for {} seconds of work", seconds));
    compare(lab, plan, report, "claim-under-old-snapshot", [&] {
        test::DatabaseRole reader(lab.postgres().superuser_url(lab.database_url()));
        reader.must("BEGIN ISOLATION LEVEL REPEATABLE READ");
        reader.must("SELECT count(*) FROM queue");
        const auto end = Clock::now() + std::chrono::seconds(seconds);
        while (Clock::now() < end) {
            worked.fill_at_once(1000);
            worked.work_off(1000);
        }
        const double took = filled_claim_ms(lab, worked);
        reader.must("COMMIT");
        return took;
    });
}

}  // namespace

void measure_bloat(Lab& lab, const Plan& plan, Report& report) {
    lab.restart({"automations.scripts="});
    lab.boards();
    const auto [claims, waiting, snapshot_seconds] = ageing(plan);
    measure_after_claims(lab, plan, report, claims);
    measure_with_waiting(lab, plan, report, waiting);
    measure_with_queues(lab, plan, report);
    measure_under_snapshot(lab, plan, report, snapshot_seconds);
    lab.restart();
}

}  // namespace svc::bench

#include "lab.hpp"
#include "load.hpp"
#include "scripts.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <thread>

/// create_card, and claim + complete, against the same statements run by pgbench.
namespace svc::bench {

namespace {

constexpr int clients = 16;

void measure_create(Lab& lab, const Plan& plan, Report& report) {
    const auto& boards = lab.boards();
    Scripts scripts;
    for (const auto& board : boards)
        scripts.add(lab, 1, [&](Presser& presser) {
            return Done{
                std::string(
                    member(presser.ask(create_request(lab, board)), R"("object":"card","id":")")
                ),
                std::nullopt};
        });
    report.note(fmt::format(
        "create_card takes {} statements, BEGIN and COMMIT included", scripts.statements_each()
    ));
    const auto port = lab.server().port();
    const std::vector<Variant> variants{
        {"workboard",
         [&] {
             return press(clients, plan.seconds, [&](int index) {
                 auto presser = std::make_shared<Presser>(port);
                 const auto& board = boards[static_cast<std::size_t>(index) % boards.size()];
                 return [presser, request = create_request(lab, board)] { presser->ask(request); };
             });
         }},
        {"pgbench",
         [&] {
             return writing_rate(lab, scripts, clients, plan.seconds, {"SELECT count(*) FROM cards"});
         }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "create-card/pgbench",
        median(values[0]) / median(values[1]),
        at_least(0.6),
        {{"per_second", rounds_of(variants, values)}}
    );
}

void measure_pair(Lab& lab, const Plan& plan, Report& report) {
    const auto& boards = lab.boards();
    Scripts scripts;
    for (const auto& board : boards)
        for (const int from : {0, 1})
            scripts.add(lab, 2, [&, from](Presser& presser) {
                Pair pair(lab, board, from);
                pair.run(presser);
                return Done{
                    pair.lease(),
                    Found{
                        .value = pair.card(),
                        .type = "uuid",
                        .query =
                            "SELECT card_id FROM queue WHERE org_id = svc_org() AND lease_id = $1",
                        .by = pair.lease(),
                    }};
            });
    const auto port = lab.server().port();
    const Writes writes{"SELECT count(*) FROM lease_outcomes WHERE state = 'completed'"};
    const std::vector<Variant> variants{
        {"workboard",
         [&] {
             return press(clients, plan.seconds, [&](int index) {
                 auto presser = std::make_shared<Presser>(port);
                 const auto& board = boards[static_cast<std::size_t>(index) % boards.size()];
                 const Pair ways[] = {Pair(lab, board, 0), Pair(lab, board, 1)};
                 auto way = std::make_shared<std::vector<Pair>>(std::begin(ways), std::end(ways));
                 return [presser, way, turn = static_cast<std::size_t>(index)]() mutable {
                     (*way)[turn++ % 2].run(*presser);
                 };
             });
         }},
        {"pgbench",
         [&] { return writing_rate(lab, scripts, clients, plan.seconds, writes); }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "claim-complete/pgbench",
        median(values[0]) / median(values[1]),
        at_least(0.6),
        {{"per_second", rounds_of(variants, values)}}
    );
}

}  // namespace

void measure_writes(Lab& lab, const Plan& plan, Report& report) {
    measure_create(lab, plan, report);
    measure_pair(lab, plan, report);
}

}  // namespace svc::bench

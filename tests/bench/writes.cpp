#include "lab.hpp"
#include "load.hpp"
#include "statements.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <thread>

/// create_card, and claim + complete, against the same statements run by pgbench.
namespace svc::bench {

namespace {

constexpr int clients = 16;

/// The transactions of requests that `run` makes; it returns the id that marks them.
std::vector<std::vector<Logged>> transactions(
    Lab& lab, std::size_t expected, const std::function<std::string(Presser&)>& run
) {
    Presser presser(lab.server().port());
    run(presser);
    std::string mark;
    const auto logged = record(lab.postgres(), [&] { mark = run(presser); });
    auto found = transactions_with(logged, mark, "INSERT INTO outbox");
    if (found.size() != expected)
        throw std::runtime_error(fmt::format(
            "{} transactions were recorded where {} were expected", found.size(), expected
        ));
    return found;
}

/// A script for each board, for each way the work can go.
class Scripts {
public:
    void add(Lab& lab, std::size_t expected, const std::function<std::string(Presser&)>& run) {
        const auto once = transactions(lab, expected, run),
                   again = transactions(lab, expected, run);
        files_.push_back(folder_.path() / fmt::format("{}.sql", files_.size()));
        test::write_file(files_.back(), pgbench_script(once, again));
        for (const auto& each : once) statements_ += each.size();
    }
    const std::vector<std::filesystem::path>& files() const { return files_; }
    double statements_each() const {
        return static_cast<double>(statements_) / static_cast<double>(files_.size());
    }

private:
    test::TempFolder folder_{"workboard-pgbench"};
    std::vector<std::filesystem::path> files_;
    std::size_t statements_ = 0;
};

void measure_create(Lab& lab, const Plan& plan, Report& report) {
    const auto& boards = lab.boards();
    Scripts scripts;
    for (const auto& board : boards)
        scripts.add(lab, 1, [&](Presser& presser) {
            return std::string(
                member(presser.ask(create_request(lab, board)), R"("object":"card","id":")")
            );
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
         [&] { return pgbench(lab.database_url(), scripts.files(), clients, plan.seconds); }},
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
                return pair.lease();
            });
    const auto port = lab.server().port();
    const auto completed = [&] {
        return std::stod(lab.postgres().run(
            "SELECT count(*) FROM lease_outcomes WHERE state = 'completed'", lab.database_url()
        ));
    };
    double pairs_by_pgbench = 0, completed_by_pgbench = 0;
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
         [&] {
             const double before = completed();
             const double rate =
                 pgbench(lab.database_url(), scripts.files(), clients, plan.seconds);
             completed_by_pgbench += completed() - before;
             pairs_by_pgbench += rate * plan.seconds;
             return rate;
         }},
    };
    const auto values = alternate(variants, plan.rounds);
    // Scripts that complete nothing would be fast.
    if (completed_by_pgbench < 0.9 * pairs_by_pgbench)
        throw std::runtime_error(fmt::format(
            "pgbench ran {} pairs and completed {} leases", pairs_by_pgbench, completed_by_pgbench
        ));
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

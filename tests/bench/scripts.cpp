#include "scripts.hpp"

#include <fmt/format.h>

namespace svc::bench {

namespace {

struct Recording {
    std::vector<std::vector<Logged>> transactions;
    Done done;
};

Recording transactions(Lab& lab, std::size_t expected, const Work& work) {
    Presser presser(lab.server().port());
    work(presser);
    Recording out;
    const auto logged = record(lab.postgres(), [&] { out.done = work(presser); });
    out.transactions = transactions_with(logged, out.done.mark, "INSERT INTO outbox");
    if (out.transactions.size() != expected)
        throw std::runtime_error(fmt::format(
            "{} transactions were recorded where {} were expected",
            out.transactions.size(),
            expected
        ));
    return out;
}

}  // namespace

void Scripts::add(Lab& lab, std::size_t expected, const Work& work) {
    const auto once = transactions(lab, expected, work), again = transactions(lab, expected, work);
    files_.push_back(folder_.path() / fmt::format("{}.sql", files_.size()));
    test::write_file(
        files_.back(), pgbench_script(once.transactions, again.transactions, once.done.found)
    );
    for (const auto& each : once.transactions) statements_ += each.size();
}

}  // namespace svc::bench

#include "scripts.hpp"

#include <fmt/format.h>

#include <map>

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
    out.transactions = transactions_with(logged, out.done.mark, "INSERT INTO event_log");
    if (out.transactions.size() != expected)
        throw std::runtime_error(fmt::format(
            "{} transactions were recorded where {} were expected",
            out.transactions.size(),
            expected
        ));
    return out;
}

std::vector<std::size_t> sizes(const Recording& of) {
    std::vector<std::size_t> out;
    for (const auto& each : of.transactions) out.push_back(each.size());
    return out;
}

/// The same work twice, with the same statements. A statement that is only run for one write in
/// some, such as the one that counts stored bytes, makes a recording that is like no other.
std::pair<Recording, Recording> twice(Lab& lab, std::size_t expected, const Work& work) {
    std::map<std::vector<std::size_t>, Recording> recordings;
    for (int tries = 0; tries < 10; ++tries) {
        auto next = transactions(lab, expected, work);
        const auto [like, first] = recordings.try_emplace(sizes(next), std::move(next));
        if (!first) return {std::move(like->second), std::move(next)};
    }
    throw std::runtime_error("the same work takes other statements every time");
}

}  // namespace

void Scripts::add(Lab& lab, std::size_t expected, const Work& work) {
    const auto [once, again] = twice(lab, expected, work);
    files_.push_back(folder_.path() / fmt::format("{}.sql", files_.size()));
    test::write_file(
        files_.back(), pgbench_script(once.transactions, again.transactions, once.done.found)
    );
    for (const auto& each : once.transactions) statements_ += each.size();
}

double writing_rate(
    Lab& lab, const Scripts& scripts, int clients, double seconds, const Writes& writes
) {
    const auto counted = [&] {
        return std::stod(lab.postgres().run(writes.count, lab.database_url()));
    };
    const double before = counted();
    const auto pressed = pgbench(lab.database_url(), scripts.files(), clients, seconds);
    const double written = counted() - before;
    if (written < writes.share * pressed.all)
        throw std::runtime_error(
            fmt::format("pgbench ran {} scripts, which wrote {} rows", pressed.all, written)
        );
    return pressed.per_second;
}

}  // namespace svc::bench

#include "lab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>

/// bench [--rounds N] [--seconds N] [--out FILE] [answers trips reads writes boards people idle
/// start]
namespace svc::bench {

namespace {

struct Group {
    std::string_view name;
    void (*measure)(Lab&, const Plan&, Report&);
};
constexpr Group groups[] = {
    {"answers", measure_answers},
    {"trips", measure_trips},
    {"reads", measure_reads},
    {"writes", measure_writes},
    {"boards", measure_boards},
    {"people", measure_people},
    {"idle", measure_idle},
    {"start", measure_start},
};

struct Asked {
    Plan plan;
    std::string out;
    std::vector<Group> groups;
};

Asked read(int count, char** words) {
    Asked asked;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const auto group = std::ranges::find(groups, word, &Group::name);
        if (group != std::end(groups)) asked.groups.push_back(*group);
        else if (word == "--rounds" && i + 1 < count) asked.plan.rounds = std::stoi(words[++i]);
        else if (word == "--seconds" && i + 1 < count) asked.plan.seconds = std::stoi(words[++i]);
        else if (word == "--out" && i + 1 < count) asked.out = words[++i];
        else throw std::invalid_argument(fmt::format("there is no {}", word));
    }
    if (asked.groups.empty()) asked.groups.assign(std::begin(groups), std::end(groups));
    return asked;
}

int run(const Asked& asked) {
    Report report;
    Lab lab;
    bool complete = true;
    for (const auto& group : asked.groups) {
        try {
            group.measure(lab, asked.plan, report);
        } catch (const std::exception& problem) {
            report.note(fmt::format("{}: {}", group.name, problem.what()));
            complete = false;
        }
    }
    if (!asked.out.empty()) report.write(asked.out);
    return complete && report.passed() ? 0 : 1;
}

}  // namespace

}  // namespace svc::bench

int main(int count, char** words) {
    try {
        return svc::bench::run(svc::bench::read(count, words));
    } catch (const std::exception& problem) {
        std::cerr << "bench: " << problem.what() << "\n";
        return 2;
    }
}

#include "lab.hpp"
#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>

/// bench [--rounds N] [--seconds N] [--long] [--out FILE] [--page FILE] [group…]
namespace svc::bench {

namespace {

struct Group {
    const char* name;
    const char* about;  ///< for the page
    void (*measure)(Lab&, const Plan&, Report&);
};
constexpr Group groups[] = {
    {"answers", "An answer of 1 KB that asks no database, beside nginx.", measure_answers},
    {"trips",
     "How often a request goes to the database and back, by the server's count and by that of a "
     "proxy in between.",
     measure_trips},
    {"reads",
     "get_card, beside its statement alone and beside the obvious program written with POCO.",
     measure_reads},
    {"writes",
     "create_card, and claim + complete, beside the same statements run by pgbench.",
     measure_writes},
    {"boards", "A board of 10,000 cards in a workspace of 100,000.", measure_boards},
    {"people",
     "What it costs to say who is asking, and what logging in costs others.",
     measure_people},
    {"idle", "Connections that are open and ask little.", measure_idle},
    {"start", "From the start of the program to its first answer from the database.", measure_start
    },
    {"peers",
     "Claim + complete over REST, beside two queues on PostgreSQL that people use: on the same "
     "cluster, with durable commits, 16 workers each. Cards and jobs are put in beforehand. The "
     "time is that of the work, up to the end of the last job; processor time and log of the "
     "database are those of the whole cluster until nothing is left to do, so that events are in. "
     "graphile-worker runs as `run()` does by default: it asks for the next job before it knows "
     "that the last one is completed. pg-boss fetches one job and completes it. Workboard does "
     "more for each: it asks whose token it is and what that may do, and leaves an event and an "
     "audit entry of each change. A job of the peers goes nowhere when it is done. `in-place` are "
     "cards that stay in their column too; all others go on to the next one, which is one more "
     "change of the card and one more event.",
     measure_peers},
    {"servers",
     "Three servers on one database, while 500 cards a second are made on one that does not put "
     "events in order: from the answer to a create there until a claim is answered that waits on "
     "the server that does (`leader`), and on the third; woken through PostgreSQL, and by polling.",
     measure_servers},
    {"costs",
     "The server's own processor time (`server-…`) for a create, a claim and a completion, beside "
     "that for a read; and 16 clients that create cards on one board, beside 16 on a board each.",
     measure_costs},
    {"bloat",
     "Whether a claim takes longer in a column that much has happened to than in one beside it: "
     "after many claims, with many cards waiting, among 1,000 queues, and while an old snapshot "
     "keeps "
     "the database "
     "from removing what is dead. `--long` is the full size: 200,000 claims, 100,000 cards, a "
     "minute.",
     measure_bloat},
    {"webhooks",
     "Deliveries to a hundred webhooks, one in ten of whose endpoints hangs; and claim + complete "
     "while a hundred webhooks are subscribed to something else, alone and with 1,000 streams of "
     "another board, beside the same without any.",
     measure_webhooks},
    {"live",
     "Streams of events: 9,000 WebSockets and 9,000 SSE streams, an event to 9,000 of them beside "
     "a "
     "bare loop of sends in the same process's rounds, readers that do not read, and the way from "
     "a "
     "commit to a socket with 500 writes a second going on.",
     measure_live},
    {"notifications",
     "Counting with 100,000 unread, beside get_me; a comment that mentions 50 people on a card "
     "that "
     "200 watch, beside the same on a server without notifications; 10,000 people of one workspace "
     "who are due a digest at once, mailed over SMTP.",
     measure_notifications},
    {"mcp",
     "MCP beside REST: the list of tools beside the cheapest answer there is, a tool beside its "
     "REST twin by the server's processor time, and what a thousand open streams hold.",
     measure_mcp},
    {"before",
     "Creating cards on one board and reading one, 16 clients, beside the server of an earlier "
     "commit, from before its statements were rewritten. `database us` is that of get_card.",
     measure_before},
};

struct Asked {
    Plan plan;
    std::string out, page;
    std::vector<Group> groups;
};

Asked read(int count, char** words) {
    Asked asked;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const auto group =
            std::ranges::find_if(groups, [&](const Group& each) { return each.name == word; });
        if (group != std::end(groups)) asked.groups.push_back(*group);
        else if (word == "--rounds" && i + 1 < count) asked.plan.rounds = std::stoi(words[++i]);
        else if (word == "--seconds" && i + 1 < count) asked.plan.seconds = std::stoi(words[++i]);
        else if (word == "--out" && i + 1 < count) asked.out = words[++i];
        else if (word == "--page" && i + 1 < count) asked.page = words[++i];
        else if (word == "--long") asked.plan.extended = true;
        else throw std::invalid_argument(fmt::format("there is no {}", word));
    }
    if (asked.groups.empty()) asked.groups.assign(std::begin(groups), std::end(groups));
    return asked;
}

int run(const Asked& asked) {
    Report report;
    Lab lab;
    for (const auto& group : asked.groups) {
        report.begin(group.name);
        try {
            group.measure(lab, asked.plan, report);
        } catch (const std::exception& problem) {
            report.incomplete(problem.what());
        }
    }
    if (!asked.out.empty()) report.write(asked.out);
    if (!asked.page.empty()) {
        std::vector<Section> sections;
        for (const auto& group : asked.groups) sections.push_back({group.name, group.about});
        write_page(asked.page, sections, report, lab, asked.plan);
    }
    return report.passed() ? 0 : 1;
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

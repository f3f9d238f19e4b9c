#pragma once

#include "modules/automations/engine/sandbox.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace svc::test {

using namespace std::chrono_literals;

inline std::filesystem::path sandbox_program() {
    return build_folder() / "bin" / "workboard-sandbox";
}

/// The processes of sandboxes that this process has started and not buried, by their ids.
inline std::vector<std::string> sandboxes_there_are() {
    std::vector<std::string> found;
    const std::string mine = ") Z " + std::to_string(getpid()) + " ";
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string pid = entry.path().filename();
        if (!std::ranges::all_of(pid, [](unsigned char c) { return std::isdigit(c) != 0; }))
            continue;
        std::ifstream file(entry.path() / "stat");
        std::string stat;
        std::getline(file, stat);  // nothing, when the process ends just now
        // "813 (workboard-sandb) S 42 …": the name is cut, and the state may be any.
        const auto end = stat.rfind(") ");
        if (end == stat.npos || stat.find("(workboard-sandb") == stat.npos) continue;
        stat[end + 2] = 'Z';
        if (stat.compare(end, mine.size(), mine) == 0) found.push_back(pid);
    }
    return found;
}

inline automations::Limits tight() {
    automations::Limits limits;
    limits.memory = 8 << 20;
    limits.instructions = 2'000'000;
    limits.own_time = 1'000ms;
    limits.whole_time = 10s;
    limits.calls = 20;
    return limits;
}

inline const std::string an_event =
    R"({"object":"event","kind":"lease.completed","actor":{"principal_type":"agent"},)"
    R"("data":{"id":"l1","card_id":"c1","version":3,"changes":{"result":{"label":"x"},)"
    R"("list":[1,null,"two",2.5],"nothing":null,"deep":{"a":[{"b":true}]}}}})";

/// Runs the body of a handler.
inline automations::Ended run_body(
    const std::string& body,
    const automations::Serve& serve = {},
    automations::Limits limits = tight()
) {
    const automations::Sandbox sandbox(sandbox_program(), limits);
    const std::string source =
        "svc.after(\"lease.completed\", function(event)\n" + body + "\nend)\n";
    return sandbox.run(
        {.mode = automations::Mode::after, .name = "test.lua", .source = source, .event = an_event},
        serve
    );
}

}  // namespace svc::test

#include "tests/support/places.hpp"

#include "lab.hpp"
#include "load.hpp"
#include "process.hpp"

#include <chrono>
#include <csignal>
#include <thread>

/// From exec to the first answer that came from the database, with everything switched on.
namespace svc::bench {

namespace {

struct Started {
    double milliseconds = 0;
    double resident = 0;  ///< bytes of the server and its children
    double alone = 0;     ///< bytes of the server itself
};

Started start_once(const Lab& lab, const std::string& request) {
    const auto port = test::free_port();
    const auto options = lab.options();
    const auto before = std::chrono::steady_clock::now();
    test::Program::Start start{
        .command =
            {test::Server::program_of(options),
             "serve",
             "--port",
             std::to_string(port),
             "--var",
             options.var,
             "--database-url",
             options.database_url,
             "--set",
             test::key_of_all_servers},
        .environment = {},
        .folder = test::source_folder(),
        .output = options.var / "cold.log",
    };
    test::Program program(start);
    for (;;) {
        try {
            Presser(port).ask(request);
            break;
        } catch (const std::runtime_error&) {
            if (!program.running())
                throw std::runtime_error("it ended: " + test::read_file(start.output));
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    }
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - before;
    const Started out{
        took.count(), resident_memory(program.pid()), resident_memory_alone(program.pid())};
    program.signal(SIGTERM);
    if (!program.wait(std::chrono::seconds(20))) throw std::runtime_error("it does not stop");
    return out;
}

}  // namespace

void measure_start(Lab& lab, const Plan& plan, Report& report) {
    const auto request = request_text("GET", "/v1/cards/" + lab.cards().front(), lab.token());
    lab.stop();
    std::vector<double> times, memory, alone;
    start_once(lab, request);  // the files are in memory from here on
    for (int i = 0; i < 2 * plan.rounds; ++i) {
        const auto started = start_once(lab, request);
        times.push_back(started.milliseconds);
        memory.push_back(started.resident / (1 << 20));
        alone.push_back(started.alone / (1 << 20));
    }
    report.figure(
        "cold-start-ms", median(times), at_most(100), {{"rounds", boost::json::value_from(times)}}
    );
    report.figure(
        "cold-start-resident-mib",
        median(memory),
        at_most(40),
        {{"with_children", boost::json::value_from(memory)},
         {"server_alone", boost::json::value_from(alone)}}
    );
    lab.restart();
}

}  // namespace svc::bench

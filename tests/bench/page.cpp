#include "page.hpp"

#include "tests/support/places.hpp"
#include "tests/support/program.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <thread>

namespace svc::bench {

namespace {

/// The value of the first line that begins with `key`, as /proc has it.
std::string line_of(const std::string& file, const std::string& key) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with(key))
            return line.substr(line.find_first_not_of("\t :=\"", key.size()));
    return "?";
}

/// What a program prints, without the end of the line; a question mark when it fails.
std::string said_by(const std::vector<std::string>& command) {
    auto done = test::run(command, {}, test::source_folder());
    if (done.code != 0) return "?";
    while (!done.output.empty() && done.output.back() == '\n') done.output.pop_back();
    return done.output;
}

std::string operating_system() {
    auto name = line_of("/etc/os-release", "PRETTY_NAME");
    if (name.ends_with('"')) name.pop_back();
    return name;
}

/// "graphile-worker 0.18.0, …", as the package file of the peers names them.
std::string peers() {
    const auto file = test::source_folder() / "tests/bench/peers/package.json";
    const auto package = boost::json::parse(test::read_file(file));
    std::string out;
    for (const auto& [name, version] : package.at("dependencies").as_object())
        out += fmt::format(
            "{}{} {}", out.empty() ? "" : ", ", std::string(name), std::string(version.as_string())
        );
    return out;
}

std::string machine(const Lab& lab) {
    const auto kilobytes = std::stod(line_of("/proc/meminfo", "MemTotal:"));
    const auto version = lab.postgres().run("SHOW server_version");
    const std::pair<const char*, std::string> rows[] = {
        {"Date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
        {"Commit", said_by({"git", "rev-parse", "--short", "HEAD"})},
        {"Processor",
         fmt::format(
             "{}, {} cores",
             line_of("/proc/cpuinfo", "model name"),
             std::thread::hardware_concurrency()
         )},
        {"Memory", fmt::format("{:.0f} GiB", kilobytes / 1024 / 1024)},
        {"System", operating_system()},
        {"Compiler", __VERSION__},
        {"PostgreSQL", version.substr(0, version.find(' '))},
        {"Node.js", said_by({"node", "--version"})},
        {"Peers", peers()},
    };
    std::string out = "| | |\n|---|---|\n";
    for (const auto& [name, value] : rows) out += fmt::format("| {} | {} |\n", name, value);
    return out;
}

/// Three digits that count; thousands set apart.
std::string number(double value) {
    if (!std::isfinite(value)) return "?";
    if (std::abs(value) < 100) return fmt::format("{:.3g}", value);
    auto digits = fmt::format("{:.0f}", value);
    for (auto at = static_cast<int>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

double median_of(const boost::json::array& rounds) {
    std::vector<double> values;
    for (const auto& each : rounds) values.push_back(each.to_number<double>());
    return median(values);
}

std::string spaced(std::string_view name) {
    std::string out(name);
    std::ranges::replace(out, '_', ' ');
    return out;
}

/// "per second: this 1,234, that 2,345; …"
std::string medians(const boost::json::object& made_of) {
    std::string out;
    for (const auto& [name, value] : made_of) {
        std::string each;
        if (const auto* variants = value.if_object()) {
            for (const auto& [variant, rounds] : *variants)
                if (rounds.is_array())
                    each += fmt::format(
                        "{}{} {}",
                        each.empty() ? "" : ", ",
                        spaced(variant),
                        number(median_of(rounds.as_array()))
                    );
        } else if (const auto* rounds = value.if_array()) {
            each = number(median_of(*rounds));
        } else if (value.is_number()) {
            each = number(value.to_number<double>());
        }
        if (!each.empty())
            out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", spaced(name), each);
    }
    return out;
}

std::string row(const boost::json::object& line) {
    const auto* bar = line.if_contains("bar");
    return fmt::format(
        "| `{}` | {} | {} | {} | {} |\n",
        std::string(line.at("name").as_string()),
        number(line.at("value").to_number<double>()),
        bar ? std::string(bar->as_string()) : "",
        !bar                          ? ""
        : line.at("passed").as_bool() ? "pass"
                                      : "**fail**",
        medians(line.at("made_of").as_object())
    );
}

std::string section(const Section& of, const Report& report) {
    std::string notes, rows;
    for (const auto& each : report.lines()) {
        const auto& line = each.as_object();
        if (line.at("group").as_string() != of.group) continue;
        if (const auto* note = line.if_contains("note"))
            notes += fmt::format("- {}\n", std::string(note->as_string()));
        else rows += row(line);
    }
    std::string out = fmt::format("\n## {}\n\n{}\n", of.group, of.about);
    if (!notes.empty()) out += "\n" + notes;
    if (!rows.empty())
        out += "\n| Figure | Value | Bar | Verdict | Medians |\n|---|---|---|---|---|\n" + rows;
    return out;
}

constexpr std::string_view introduction = R"(# Benchmarks

Written by `./bench --page docs/benchmarks.md` at the end of a run; change nothing by hand.

{}
Server, database and clients share the machine, and each ratio is between variants that took turns in
one run: {} rounds, each beginning with another variant, {} seconds or as many pieces of work each.
A value is the quotient of medians over the rounds. Ratios count. Absolute numbers are those of this
machine at that hour, and mean little beside those of another run. Commits are durable, on both
sides. `database us` and `server us` are microseconds of processor time for a request or job: of all
processes of PostgreSQL, background ones included, and of the server; `wal bytes` is what a request or
job adds to the write-ahead log, without the pages that are logged as a whole behind a checkpoint.
)";

}  // namespace

void write_page(
    const std::filesystem::path& file,
    const std::vector<Section>& sections,
    const Report& report,
    const Lab& lab,
    const Plan& plan
) {
    auto page = fmt::format(introduction, machine(lab), plan.rounds, plan.seconds);
    for (const auto& each : sections) page += section(each, report);
    test::write_file(file, page);
}

}  // namespace svc::bench

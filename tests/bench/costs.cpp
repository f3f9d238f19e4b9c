#include "costs.hpp"

#include "process.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

namespace svc::bench {

namespace {

pid_t postmaster_of(const Lab& lab) {
    const std::filesystem::path data = lab.postgres().run("SHOW data_directory");
    return std::stoi(test::read_file(data / "postmaster.pid"));
}

/// Nanoseconds of the children that have ended.
double cpu_of_ended_children(pid_t pid) {
    const auto text = test::read_file("/proc/" + std::to_string(pid) + "/stat");
    std::istringstream fields(text.substr(text.rfind(')') + 2));  // from the third on
    std::string skipped;
    for (int i = 3; i < 16; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) * 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string_view name_of(Cost cost) {
    if (cost == &Costs::per_second) return "per_second";
    if (cost == &Costs::database_us) return "database_us";
    return cost == &Costs::server_us ? "server_us" : "wal_bytes";
}

}  // namespace

DatabaseMeter::DatabaseMeter(const Lab& lab)
    : postmaster_(postmaster_of(lab)),
      connection_(lab.postgres().superuser_url(lab.database_url())) {
    connection_.must("SET client_min_messages = warning");
    connection_.must("CREATE EXTENSION IF NOT EXISTS pg_walinspect");
}

double DatabaseMeter::cpu_ns() const {
    return cpu_nanoseconds(postmaster_) + cpu_of_ended_children(postmaster_);
}

double DatabaseMeter::wal_end() {
    return std::stod(connection_.must("SELECT pg_current_wal_insert_lsn() - '0/0'")[0][0]);
}

double DatabaseMeter::wal_bytes_since(double end) {
    // Where nobody has written, the end that was flushed lies before.
    const auto pages = connection_.must(fmt::format(
        "SELECT CASE WHEN f.lsn > s.lsn THEN (SELECT sum(w.fpi_size) FROM pg_get_wal_stats("
        "s.lsn, f.lsn) w) ELSE 0 END FROM (SELECT '0/0'::pg_lsn + {:.0f} AS lsn) s, "
        "(SELECT pg_current_wal_flush_lsn() AS lsn) f",
        end
    ));
    return wal_end() - end - std::stod(pages[0][0]);
}

void DatabaseMeter::settle() {
    constexpr double next_to_nothing = 2000;  // bytes; of jobs that look for work now and then
    constexpr auto interval = std::chrono::milliseconds(150);
    int quiet = 0;
    double before = wal_end();
    for (int i = 0; i < 800 && quiet < 3; ++i) {
        std::this_thread::sleep_for(interval);
        const double now = wal_end();
        quiet = now - before < next_to_nothing ? quiet + 1 : 0;
        before = now;
    }
    if (quiet < 3) throw std::runtime_error("the database does not come to rest");
}

void Contest::add(const std::string& name, Lab& lab, const std::function<Work()>& prepare) {
    auto& costs = costs_[name];
    meters_.try_emplace(&lab, lab);
    variants_.push_back({name, [this, &costs, &lab, prepare] {
                             return measure(costs, lab, prepare());
                         }});
}

double Contest::measure(Costs& costs, Lab& lab, const Work& work) {
    auto& meter = meters_.at(&lab);
    meter.settle();
    const pid_t server = lab.server().pid();
    const double wal = meter.wal_end(), database = meter.cpu_ns(), own = cpu_nanoseconds(server);
    const auto worked = work();
    meter.settle();  // what the work leaves to be done later is part of its cost
    const auto each = [&](double value) { return value / static_cast<double>(worked.done); };
    costs.database_us.push_back(each((meter.cpu_ns() - database) / 1000));
    costs.server_us.push_back(each((cpu_nanoseconds(server) - own) / 1000));
    costs.wal_bytes.push_back(each(meter.wal_bytes_since(wal)));
    costs.per_second.push_back(static_cast<double>(worked.done) / worked.seconds);
    return costs.per_second.back();
}

double Contest::median_of(const std::string& name, Cost cost) const {
    return median(costs_.at(name).*cost);
}

boost::json::object Contest::made_of(Cost cost) const {
    boost::json::object rounds;
    for (const auto& variant : variants_)
        rounds[variant.name] = boost::json::value_from(costs_.at(variant.name).*cost);
    return {{name_of(cost), std::move(rounds)}};
}

}  // namespace svc::bench

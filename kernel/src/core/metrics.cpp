#include "core/metrics.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace svc::core {

namespace {

std::size_t stripe_of_this_thread(std::size_t stripes) {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t mine = next++;
    return mine % stripes;
}

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

struct RequestMetrics::Sum {
    std::array<std::uint64_t, classes> by_class{};
    std::array<std::uint64_t, bounds.size() + 1> by_time{};
    std::uint64_t nanoseconds = 0, round_trips = 0;
    std::uint64_t count() const {
        std::uint64_t all = 0;
        for (auto each : by_class) all += each;
        return all;
    }
};

RequestMetrics::RequestMetrics(std::vector<std::string> names) : names_(std::move(names)) {
    for (auto& each : cells_) each = std::make_unique<Cell[]>(names_.size());
}

RequestMetrics::~RequestMetrics() = default;

void RequestMetrics::count(
    std::size_t endpoint, int status, std::chrono::nanoseconds took, int round_trips
) {
    Cell& cell = cells_[stripe_of_this_thread(stripes)][endpoint];
    const auto status_class = std::clamp(status / 100, 1, 5) - 1;
    const double seconds = std::chrono::duration<double>(took).count();
    const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
    cell.by_class[static_cast<std::size_t>(status_class)].fetch_add(1, relaxed);
    cell.by_time[static_cast<std::size_t>(bucket)].fetch_add(1, relaxed);
    cell.nanoseconds.fetch_add(static_cast<std::uint64_t>(took.count()), relaxed);
    if (round_trips > 0)
        cell.round_trips.fetch_add(static_cast<std::uint64_t>(round_trips), relaxed);
}

RequestMetrics::Sum RequestMetrics::sum(std::size_t endpoint) const {
    Sum sum;
    for (const auto& stripe : cells_) {
        const Cell& cell = stripe[endpoint];
        for (std::size_t i = 0; i < classes; ++i) sum.by_class[i] += cell.by_class[i].load(relaxed);
        for (std::size_t i = 0; i < sum.by_time.size(); ++i)
            sum.by_time[i] += cell.by_time[i].load(relaxed);
        sum.nanoseconds += cell.nanoseconds.load(relaxed);
        sum.round_trips += cell.round_trips.load(relaxed);
    }
    return sum;
}

void RequestMetrics::write(std::string& out) const {
    auto to = std::back_inserter(out);
    std::string counts, times, trips;
    auto to_counts = std::back_inserter(counts), to_times = std::back_inserter(times),
         to_trips = std::back_inserter(trips);
    for (std::size_t endpoint = 0; endpoint < names_.size(); ++endpoint) {
        const Sum all = sum(endpoint);
        if (all.count() == 0) continue;
        const auto& name = names_[endpoint];
        for (std::size_t i = 0; i < classes; ++i)
            if (all.by_class[i])
                fmt::format_to(
                    to_counts,
                    "workboard_requests_total{{operation=\"{}\",status=\"{}xx\"}} {}\n",
                    name,
                    i + 1,
                    all.by_class[i]
                );
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < bounds.size(); ++i)
            fmt::format_to(
                to_times,
                "workboard_request_seconds_bucket{{operation=\"{}\",le=\"{}\"}} {}\n",
                name,
                bounds[i],
                below += all.by_time[i]
            );
        fmt::format_to(
            to_times,
            "workboard_request_seconds_bucket{{operation=\"{0}\",le=\"+Inf\"}} {1}\n"
            "workboard_request_seconds_sum{{operation=\"{0}\"}} {2:.6f}\n"
            "workboard_request_seconds_count{{operation=\"{0}\"}} {1}\n",
            name,
            all.count(),
            static_cast<double>(all.nanoseconds) / 1e9
        );
        fmt::format_to(
            to_trips,
            "workboard_request_round_trips_total{{operation=\"{}\"}} {}\n",
            name,
            all.round_trips
        );
    }
    fmt::format_to(
        to,
        "# HELP workboard_requests_total Requests answered, by operation and status.\n"
        "# TYPE workboard_requests_total counter\n{}"
        "# HELP workboard_request_seconds How long requests took, waits included.\n"
        "# TYPE workboard_request_seconds histogram\n{}"
        "# HELP workboard_request_round_trips_total Database round trips made for requests.\n"
        "# TYPE workboard_request_round_trips_total counter\n{}",
        counts,
        times,
        trips
    );
}

void write_gauge(const Gauge& gauge, std::string& out) {
    fmt::format_to(
        std::back_inserter(out),
        "# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n",
        gauge.name,
        gauge.help,
        gauge.name.ends_with("_total") ? "counter" : "gauge",
        gauge.read()
    );
}

std::string metric_name(std::string_view name) {
    if (name.starts_with("workboard_") || name.starts_with("process_")) return std::string(name);
    return "workboard_" + std::string(name);
}

void write_metrics(std::vector<Metric> metrics, std::string& out) {
    std::ranges::stable_sort(metrics, {}, &Metric::name);
    std::string_view before;
    for (const Metric& each : metrics) {
        const std::string name = metric_name(each.name);
        if (each.name != before)
            fmt::format_to(
                std::back_inserter(out),
                "# HELP {0} {1}\n# TYPE {0} {2}\n",
                name,
                each.help,
                name.ends_with("_total") ? "counter" : "gauge"
            );
        before = each.name;
        fmt::format_to(
            std::back_inserter(out),
            "{}{} {}\n",
            name,
            each.labels.empty() ? "" : "{" + each.labels + "}",
            each.value
        );
    }
}

std::vector<Metric> process_metrics() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    std::error_code hidden;
    const auto open = std::distance(
        std::filesystem::directory_iterator("/proc/self/fd", hidden),
        std::filesystem::directory_iterator()
    );
    return {
        {"process_cpu_seconds_total",
         "Processor time used.",
         "",
         seconds(used.ru_utime) + seconds(used.ru_stime)},
        {"process_resident_memory_bytes",
         "Memory in use.",
         "",
         static_cast<double>(resident) * page},
        {"process_virtual_memory_bytes", "Memory mapped.", "", static_cast<double>(pages) * page},
        {"process_open_fds", "Descriptors open.", "", static_cast<double>(open)},
        {"process_max_fds",
         "Descriptors that may be open.",
         "",
         static_cast<double>(files.rlim_cur)}};
}

}  // namespace svc::core

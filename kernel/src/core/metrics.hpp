#pragma once

#include "svc/operator/upkeep.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace svc::core {

/// Counts of requests by operation and status, and how long they took. Striped, so that
/// workers do not share cache lines; reading sums the stripes. Any thread.
class RequestMetrics {
public:
    /// `names` label the endpoints, in the order of their numbers.
    explicit RequestMetrics(std::vector<std::string> names);
    ~RequestMetrics();

    void count(std::size_t endpoint, int status, std::chrono::nanoseconds took, int round_trips);
    /// Prometheus text.
    void write(std::string& out) const;

private:
    static constexpr std::array<double, 10> bounds{
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 5};  // seconds
    static constexpr std::size_t stripes = 8, classes = 5;
    struct Cell {
        std::array<std::atomic<std::uint64_t>, classes> by_class{};
        std::array<std::atomic<std::uint64_t>, bounds.size() + 1> by_time{};
        std::atomic<std::uint64_t> nanoseconds{0}, round_trips{0};
    };
    struct Sum;
    Sum sum(std::size_t endpoint) const;

    std::vector<std::string> names_;
    std::array<std::unique_ptr<Cell[]>, stripes> cells_;
};

/// A number read when /metrics is asked for.
struct Gauge {
    std::string name, help;
    std::function<double()> read;
    std::string module{};
    bool is_charted = false;
    std::optional<double> limit{};
};
void write_gauge(const Gauge& gauge, std::string& out);

/// With the prefix that all names have.
std::string metric_name(std::string_view name);
/// Metrics of one name stand beside each other, as Prometheus wants them.
void write_metrics(std::vector<Metric> metrics, std::string& out);
/// Of this process, under the names that Prometheus' own libraries give them.
std::vector<Metric> process_metrics();

}  // namespace svc::core

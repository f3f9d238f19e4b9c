#include "figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace svc::bench {

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double quantile(std::vector<double> values, double part) {
    if (values.empty()) return std::nan("");
    std::ranges::sort(values);
    const double place = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

std::vector<std::vector<double>> alternate(const std::vector<Variant>& variants, int rounds) {
    std::vector<std::vector<double>> values(variants.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < variants.size(); ++i) {
            const auto turn = (i + static_cast<std::size_t>(round)) % variants.size();
            values[turn].push_back(variants[turn].measure());
        }
    }
    return values;
}

void Report::figure(const std::string& name, double value, Bar bar, boost::json::object made_of) {
    const bool passed = bar.passed_by(value);
    passed_ = passed_ && passed;
    const auto sign = bar.way == Bar::Way::at_most ? "<=" : ">=";
    fmt::print(
        "{:<40} {:>10.3f}   {} {:<8g} {}\n", name, value, sign, bar.limit, passed ? "PASS" : "FAIL"
    );
    std::fflush(stdout);
    keep({
        {"name", name},
        {"value", value},
        {"bar", fmt::format("{} {:g}", sign, bar.limit)},
        {"passed", passed},
        {"made_of", std::move(made_of)},
    });
}

void Report::figure(const std::string& name, double value, boost::json::object made_of) {
    fmt::print("{:<40} {:>10.3f}\n", name, value);
    std::fflush(stdout);
    keep({{"name", name}, {"value", value}, {"made_of", std::move(made_of)}});
}

void Report::incomplete(const std::string& why) {
    passed_ = false;
    fmt::print("{:<40} {:>10}   {:<11} FAIL: {}\n", group_, "?", "", why);
    std::fflush(stdout);
    keep({{"note", "**incomplete**: " + why}});
}

void Report::note(const std::string& text) {
    fmt::print("# {}\n", text);
    std::fflush(stdout);
    keep({{"note", text}});
}

void Report::keep(boost::json::object line) {
    line["group"] = group_;
    lines_.push_back(std::move(line));
}

void Report::write(const std::filesystem::path& file) const {
    boost::json::array figures;
    for (const auto& line : lines_)
        if (line.as_object().contains("value")) figures.push_back(line);
    std::ofstream out(file);
    out << boost::json::serialize(boost::json::object{{"passed", passed_}, {"figures", figures}})
        << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

boost::json::object rounds_of(
    const std::vector<Variant>& variants, const std::vector<std::vector<double>>& values
) {
    boost::json::object out;
    for (std::size_t i = 0; i < variants.size(); ++i)
        out[variants[i].name] = boost::json::value_from(values[i]);
    return out;
}

}  // namespace svc::bench

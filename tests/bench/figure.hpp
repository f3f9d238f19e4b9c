#pragma once

#include <boost/json.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// What a benchmark says in the end: figures, each beside the bar it has to reach.
namespace svc::bench {

double median(std::vector<double> values);
/// The value that `part` (0…1) of the values do not exceed.
double quantile(std::vector<double> values, double part);

/// One way to do the work that is measured.
struct Variant {
    std::string name;
    std::function<double()> measure;  ///< one round
};
/// The values of each variant, in the order given, one per round. The machine is shared and
/// its speed drifts, so all variants run in every round, each round beginning with another.
std::vector<std::vector<double>> alternate(const std::vector<Variant>& variants, int rounds);

struct Bar {
    enum class Way { at_most, at_least } way;
    double limit;
    bool passed_by(double value) const {
        return way == Way::at_most ? value <= limit : value >= limit;
    }
};
inline Bar at_most(double limit) { return {Bar::Way::at_most, limit}; }
inline Bar at_least(double limit) { return {Bar::Way::at_least, limit}; }

class Report {
public:
    /// What follows belongs to this group of figures.
    void begin(const std::string& group) { group_ = group; }
    /// Prints the figure with its bar, and keeps it with what it was made of.
    void figure(const std::string& name, double value, Bar bar, boost::json::object made_of = {});
    /// The same without a bar: to be watched over time.
    void figure(const std::string& name, double value, boost::json::object made_of);
    /// The group ended before all of its figures were there, which fails.
    void incomplete(const std::string& why);
    /// A line for whoever reads along.
    void note(const std::string& text);
    void write(const std::filesystem::path& file) const;
    bool passed() const { return passed_; }
    /// Each an object of group, name, value, what it was made of, and its bar and whether it
    /// passed if it has one; notes are objects of group and note.
    const boost::json::array& lines() const { return lines_; }

private:
    void keep(boost::json::object line);

    std::string group_;
    boost::json::array lines_;
    bool passed_ = true;
};

/// The rounds of several variants as JSON, for `made_of`.
boost::json::object rounds_of(
    const std::vector<Variant>& variants, const std::vector<std::vector<double>>& values
);

}  // namespace svc::bench

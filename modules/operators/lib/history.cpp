#include "modules/operators/lib/history.hpp"

#include <algorithm>

namespace svc::operators {

void History::add(Timestamp at, const std::vector<Metric>& metrics) {
    const std::lock_guard lock(mutex_);
    const auto before = times_.size();
    times_.push_back(at);
    for (const Metric& each : metrics)
        if (each.is_charted)
            values_.try_emplace({each.name, each.labels}, most).first->second.resize(before);
    for (auto& [key, values] : values_) values.push_back(std::nullopt);
    for (const Metric& each : metrics)
        if (const auto found = values_.find({each.name, each.labels}); found != values_.end())
            found->second.back() = each.value;
    std::erase_if(values_, [](const auto& each) {
        return std::ranges::none_of(each.second, [](const Value& value) { return value.has_value(); });
    });
}

History::Kept History::kept() const {
    const std::lock_guard lock(mutex_);
    Kept out{.times = {times_.begin(), times_.end()}, .values = {}};
    for (const auto& [key, values] : values_) out.values[key] = {values.begin(), values.end()};
    return out;
}

}  // namespace svc::operators

#pragma once

#include "svc/operator/upkeep.hpp"
#include "svc/types.hpp"

#include <boost/circular_buffer.hpp>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace svc::operators {

/// What the numbers that are charted were over the last hour, on this server, a value a minute. Any
/// thread.
class History {
public:
    static constexpr std::chrono::minutes interval{1};
    static constexpr std::size_t most = 60;
    using Value = std::optional<double>;  ///< nothing: it was not known then
    using Key = std::pair<std::string, std::string>;  ///< name and labels

    /// Oldest first; of each number as many values as there are times.
    struct Kept {
        std::vector<Timestamp> times;
        std::map<Key, std::vector<Value>> values;
    };

    void add(Timestamp at, const std::vector<Metric>& metrics);
    Kept kept() const;

private:
    mutable std::mutex mutex_;
    boost::circular_buffer<Timestamp> times_{most};
    std::map<Key, boost::circular_buffer<Value>> values_;
};

}  // namespace svc::operators

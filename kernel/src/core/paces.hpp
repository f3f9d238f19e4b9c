#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace svc::core {

/// How long the requests of one caller for one operation took of late. Only those that were ever
/// slow are remembered, so that this holds little, and costs the others a look-up. One thread.
class Paces {
public:
    using Duration = std::chrono::steady_clock::duration;

    static std::size_t key(std::string_view principal, std::size_t kind);
    /// The last ones took longer than `limit`: one that did, among others, does not count.
    bool slow(std::size_t key, Duration limit) const;
    void note(std::size_t key, Duration took, Duration limit);

private:
    static constexpr std::size_t most_ = 16'384;

    std::unordered_map<std::size_t, Duration> usual_;
};

}  // namespace svc::core

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace svc::content {

/// Something in a list, by what has to be the same for two to be the same: most of all first.
struct BlockSignature {
    std::string whole;  ///< what it says, and all below it
    std::string own;    ///< what it says itself
    int type = 0;
};

/// For each of `after` which of `before` it was, each used once. Pairs keep the order of both
/// lists, but for things that are wholly the same and merely stand elsewhere.
std::vector<std::optional<std::size_t>> matched(
    const std::vector<BlockSignature>& before, const std::vector<BlockSignature>& after
);

/// The most that rise: for each pair whether it is one of those that can stay where they are while
/// the others move.
std::vector<bool> longest_rise(const std::vector<std::optional<std::size_t>>& pairs);

}  // namespace svc::content

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc::store_s3 {

/// An answer to ListObjectsV2.
struct Listing {
    std::vector<std::string> keys;
    std::optional<std::string> next;  ///< what to go on with, when there is more
};
/// Nothing when it is none. Keys are ours, so that nothing in them is escaped.
std::optional<Listing> parse_listing(std::string_view xml);

/// The `Code` of an error; empty when it is none.
std::string error_code(std::string_view xml);

}  // namespace svc::store_s3

#pragma once

#include <string_view>

namespace svc {

/// The version of the interface that this server speaks, and the header every request under /v1
/// names it in (contract 2).
inline constexpr std::string_view api_version = "2026-06-19";
inline constexpr std::string_view version_header = "X-Board-Version";

}  // namespace svc

#pragma once

#include <string_view>

namespace svc::auth {

/// The form of the names: what the interface asks before this asks for the name itself.
inline constexpr std::string_view time_zone_pattern = "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$";

/// A name of the IANA time zone database, as this machine has it: "Europe/Zurich". On a machine
/// without the database every name of the right form counts.
bool is_time_zone(std::string_view name);

}  // namespace svc::auth

#pragma once

#include <string>
#include <string_view>

/// The short names of workspaces.
namespace svc::orgs {

inline constexpr std::size_t shortest_slug = 3, longest_slug = 48;
inline constexpr std::string_view slug_pattern = "^[a-z0-9](-?[a-z0-9])+$";

/// The slug a name suggests; of the right form, whatever the name.
std::string slug_from(std::string_view name);
/// Another of the same beginning, with a random end.
std::string varied(std::string_view slug);

}  // namespace svc::orgs

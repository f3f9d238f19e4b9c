#pragma once

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Reading JSON that others wrote.
namespace svc::idp_oidc {

/// Nothing unless the text is one JSON object.
std::optional<boost::json::object> parse_object(std::string_view text);

/// The member, if it is there and of that type.
std::optional<std::string> text_in(const boost::json::object& from, std::string_view name);
/// A whole number of seconds; a number with a fraction is cut off.
std::optional<std::int64_t> seconds_in(const boost::json::object& from, std::string_view name);
bool list_has(const boost::json::object& from, std::string_view name, std::string_view text);

}  // namespace svc::idp_oidc

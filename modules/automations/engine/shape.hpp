#pragma once

#include <boost/json.hpp>

#include <optional>
#include <string>

/// Whether a value that somebody wrote down could be what the server sends.
namespace svc::automations {

/// What of `value` no value of the schema (as the kernel writes them) has, in one line with its
/// place: "data.changes.titel is unknown". Members may be missing, for tests write down what they
/// look at. Empty when there is nothing.
std::string misfit(
    const boost::json::value& value, const boost::json::value& schema, const std::string& place
);

}  // namespace svc::automations

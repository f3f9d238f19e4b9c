#pragma once

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Reading what an operation answered.
namespace svc::automations {

std::optional<std::string> text_at(const boost::json::object& body, std::string_view name);

/// What was refused and why, from the body of a refusal: each wrong field with what is wrong about
/// it, or else the message.
std::string reason_in(const boost::json::object& body);

}  // namespace svc::automations

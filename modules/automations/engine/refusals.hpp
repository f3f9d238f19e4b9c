#pragma once

#include "svc/events.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Reading what an operation answered, and writing what a script refused.
namespace svc::automations {

/// The JSON object that an operation answered; nothing when it answered none.
std::optional<boost::json::object> parsed(const std::string& body);
std::optional<std::string> text_at(const boost::json::object& body, std::string_view name);

/// What was refused and why, from the body of a refusal: each wrong field with what is wrong about
/// it, or else the message.
std::string reason_in(const boost::json::object& body);

/// A script's refusal as an answer takes its code and message: the sandbox is not trusted with
/// them, and a long message is cut behind a whole character.
Refusal proper(Refusal refusal);

}  // namespace svc::automations

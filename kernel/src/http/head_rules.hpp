#pragma once

#include "http/head.hpp"

namespace svc::http {

/// Origin form and nothing else, but for `OPTIONS *`; only characters that travel unharmed.
std::optional<Refusal> judge_target(std::string_view method, std::string_view target);

/// A host name or address with an optional port; no user, no path.
bool is_host(std::string_view text);

/// Visible ASCII, blanks and well-formed UTF-8.
bool is_value(std::string_view text);

/// Headers whose value is a list, so that sending them twice means one longer list.
bool is_list_header(std::string_view name);

}  // namespace svc::http

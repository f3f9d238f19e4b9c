#pragma once

#include "http/head.hpp"

namespace svc::http {

/// Origin form, absolute form, which becomes origin form and an authority, or `OPTIONS *`; only
/// characters that travel unharmed.
std::optional<Refusal> judge_target(Head& head);

/// Whether a Host header names whom the target names, if that names anybody. The port that goes
/// without saying may be left out.
bool agrees(std::string_view host, const Head& head);

/// A host name or address with an optional port; no user, no path.
bool is_host(std::string_view text);

/// Visible ASCII, blanks and well-formed UTF-8.
bool is_value(std::string_view text);

/// Headers whose value is a list, so that sending them twice means one longer list.
bool is_list_header(std::string_view name);

}  // namespace svc::http

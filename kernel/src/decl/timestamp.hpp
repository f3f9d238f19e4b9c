#pragma once

#include "svc/types.hpp"

/// Calendar time as text.
namespace svc::decl {

enum class TimeProblem { none, malformed, no_offset };

/// RFC 3339, and the ISO form of PostgreSQL (a blank for the T, an offset of hours alone).
TimeProblem parse_time(std::string_view text, Timestamp& out);

/// `YYYY-MM-DD`, a day that exists.
bool is_date(std::string_view text);

}  // namespace svc::decl

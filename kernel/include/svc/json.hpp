#pragma once

#include <boost/json/fwd.hpp>

#include <string_view>

namespace svc {

/// Parses JSON that came from outside and is not an operation's input, by the same rules:
/// UTF-8, no duplicate members, no NUL in text, no lone surrogates, no number beyond a double,
/// at most 64 levels and 20,000 tokens. Failure 422 `json_invalid` at [place, <offset>]
/// otherwise. Any thread.
boost::json::value parse_json(std::string_view text, std::string_view place = "body");

}  // namespace svc

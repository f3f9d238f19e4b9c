#pragma once

#include "decl/input.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

/// JSON as a tree, for input whose shape is not known yet.
namespace svc::decl {

struct JsonProblem {
    std::size_t offset;  ///< in characters, from 0
    std::string error;
    bool is_limit = false;  ///< it is JSON, and too much of it
};
struct ParsedJson {
    json::value value;
    std::optional<JsonProblem> problem;
};

/// What parse_json promises, without the Failure. The value lives in `storage`.
ParsedJson parse_strictly(
    std::string_view text, JsonLimits limits = {}, json::storage_ptr storage = {}
);

/// Records the problem as `json_invalid` at the reader's present place.
void reject_json(Reader& reader, const JsonProblem& problem);

/// Appends the value's JSON.
void write_value(const json::value& value, std::string& out);

/// Appends a number's shortest JSON; what JSON cannot say (NaN, infinities) becomes null.
void write_number(double number, std::string& out);
void write_number(std::int64_t number, std::string& out);
void write_number(std::uint64_t number, std::string& out);

}  // namespace svc::decl

#pragma once

#include "svc/operation.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

/// What the codecs share: how problems are worded and their details (`ctx`) written.
namespace svc::decl {

inline constexpr std::size_t most_issues = 200;  ///< that a 422 tells of

std::string ctx_of(std::string_view key, std::int64_t value);
std::string ctx_of(std::string_view key, std::string_view value);

/// "1 character", "3 characters".
std::string plural(std::size_t count, std::string_view noun);

/// Text as a field's rules want it: no NUL, trimmed when asked for, of the right length and
/// pattern. False when a problem was recorded.
bool accept_text(Reader& reader, const Rules& rules, const json::value& in, std::string& out);

/// What is wrong, with a capital in front, as a JSON string.
void write_sentence(std::string_view message, std::string& out);

/// A value that is refused for what `why` says, a sentence without its full stop; `in` is shown.
void reject_value(Reader& reader, std::string_view why, const json::value* in);

/// Not an object where a record should be; a member that the record does not have.
void reject_shape(Reader& reader, const Record& record, const json::value& in);
void reject_unknown(Reader& reader, const Record& record, const json::value& in);

/// The whole text matches the pattern (which is compiled once). Time is linear in the text.
bool matches_whole(std::string_view pattern, std::string_view text);

/// The `object` of a record, quoted; the record's own name when it has none.
std::string object_name(const Record& record);

/// Calls `each(field, owner)` for the record's fields with `flatten` records laid flat. `owner`
/// is the struct that holds the field, null when `record` is.
template <class Each>
void each_field(const Record& description, void* record, const Each& each) {
    for (const Field& field : description.fields) {
        if (!field.rules.flatten) each(field, record);
        else each_field(field.codec->record(), record ? field.in(record) : nullptr, each);
    }
}

}  // namespace svc::decl

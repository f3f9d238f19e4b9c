#pragma once

#include "svc/types.hpp"

#include <string>
#include <string_view>

/// Days and instants, where either may stand.
namespace svc {

/// A day or an instant, as text that sorts by time: a day stands for its beginning in UTC.
struct moment_format {
    static bool accept(std::string& text) {
        if (Date::parse(text)) return true;
        const auto time = Timestamp::parse(text);
        if (time) text = time->str();
        return time.has_value();
    }
};
using Moment = Text<moment_format>;

/// A plain string to schemas: no format of JSON Schema is "a date or a date-time".
template <>
struct Json<Moment> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<std::string>::schema(writer, rules, out);
    }
    static void read(Reader& reader, const Rules& rules, const json::value& in, Moment& out) {
        JsonText raw;
        Json<JsonText>::read(reader, rules, in, raw);
        const std::string_view text = raw.text;
        if (text.size() > 2 && text.starts_with('"'))
            if (const auto day = Date::parse(text.substr(1, text.size() - 2))) {
                out = *Moment::parse(day->str());
                return;
            }
        Timestamp time;
        Json<Timestamp>::read(reader, rules, in, time);  // one without an offset is refused
        out = *Moment::parse(time.str());
    }
    static void write(const Moment& in, std::string& out) { write_text(in.str(), out); }
    static void from_db(Cell cell, Moment& out) {
        out = Moment::parse(cell.text()).value_or(Moment{});
    }
    static bool empty(const Moment& in) { return in.str().empty(); }
};

}  // namespace svc

#pragma once

#include "svc/types.hpp"

/// Two sorts of values that boards' shapes are made of.
namespace svc::boards {

/// A T as JSON text: what a json column holds goes out as it came in, described as a T and
/// never taken apart on the way. `parsed()` takes it apart.
template <class T>
struct AsJson {
    std::string text = "null";

    AsJson() = default;
    explicit AsJson(const T& value) : text() { Json<T>::write(value, text); }
    T parsed() const {
        T value{};
        svc::detail::read_json_cell({text.data(), text.size(), false}, codec<T>, &value);
        return value;
    }
    auto operator<=>(const AsJson&) const = default;
};

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

}  // namespace svc::boards

namespace svc {

template <class T>
struct Json<boards::AsJson<T>> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<T>::schema(writer, rules, out);
    }
    static void read(
        Reader& reader, const Rules& rules, const json::value& in, boards::AsJson<T>& out
    ) {
        T value{};
        Json<T>::read(reader, rules, in, value);
        out = boards::AsJson<T>(value);
    }
    static void write(const boards::AsJson<T>& in, std::string& out) { out += in.text; }
    static void from_db(Cell cell, boards::AsJson<T>& out) {
        out.text = cell.null ? "null" : cell.text();
    }
    static bool empty(const boards::AsJson<T>& in) {
        return in.text.empty() || in.text == "null" || in.text == "[]" || in.text == "{}";
    }
};

/// A plain string to schemas: no format of JSON Schema is "a date or a date-time".
template <>
struct Json<boards::Moment> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<std::string>::schema(writer, rules, out);
    }
    static void read(
        Reader& reader, const Rules& rules, const json::value& in, boards::Moment& out
    ) {
        JsonText raw;
        Json<JsonText>::read(reader, rules, in, raw);
        const std::string_view text = raw.text;
        if (text.size() > 2 && text.starts_with('"'))
            if (const auto day = Date::parse(text.substr(1, text.size() - 2))) {
                out = *boards::Moment::parse(day->str());
                return;
            }
        Timestamp time;
        Json<Timestamp>::read(reader, rules, in, time);  // one without an offset is refused
        out = *boards::Moment::parse(time.str());
    }
    static void write(const boards::Moment& in, std::string& out) { write_text(in.str(), out); }
    static void from_db(Cell cell, boards::Moment& out) {
        out = boards::Moment::parse(cell.text()).value_or(boards::Moment{});
    }
    static bool empty(const boards::Moment& in) { return in.str().empty(); }
};

}  // namespace svc

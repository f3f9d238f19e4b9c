#pragma once

#include "svc/codec.hpp"

#include <string>

/// What columns of JSON hold, handed on as text.
namespace svc {

/// A T as JSON text: what a json column holds goes out as it came in, described as a T and
/// never taken apart on the way. `parsed()` takes it apart.
template <class T>
struct AsJson {
    std::string text = "null";

    AsJson() = default;
    explicit AsJson(const T& value) : text() { Json<T>::write(value, text); }
    T parsed() const {
        T value{};
        detail::read_json_cell({text.data(), text.size(), false}, codec<T>, &value);
        return value;
    }
    auto operator<=>(const AsJson&) const = default;
};

template <class T>
struct Json<AsJson<T>> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<T>::schema(writer, rules, out);
    }
    static void read(Reader& reader, const Rules& rules, const json::value& in, AsJson<T>& out) {
        T value{};
        Json<T>::read(reader, rules, in, value);
        out = AsJson<T>(value);
    }
    static void write(const AsJson<T>& in, std::string& out) { out += in.text; }
    static void from_db(Cell cell, AsJson<T>& out) { out.text = cell.null ? "null" : cell.text(); }
    static bool empty(const AsJson<T>& in) {
        return in.text.empty() || in.text == "null" || in.text == "[]" || in.text == "{}";
    }
};

}  // namespace svc

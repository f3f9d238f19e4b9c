#include "decl/json.hpp"

#include <charconv>
#include <cmath>

namespace svc::decl {

namespace {

template <class Number>
void write_shortest(Number number, std::string& out) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof(text), number);
    out.append(text, end);
}

void write_array(const json::array& array, std::string& out) {
    out += '[';
    for (const json::value& element : array) {
        if (&element != array.data()) out += ',';
        write_value(element, out);
    }
    out += ']';
}

void write_object(const json::object& object, std::string& out) {
    out += '{';
    for (const auto& [key, value] : object) {
        if (out.back() != '{') out += ',';
        write_text(key, out);
        out += ':';
        write_value(value, out);
    }
    out += '}';
}

}  // namespace

void write_number(double number, std::string& out) {
    if (number == 0) out += '0';  // read back, "-0" would be another number
    else if (std::isfinite(number)) write_shortest(number, out);
    else out += "null";
}
void write_number(std::int64_t number, std::string& out) { write_shortest(number, out); }
void write_number(std::uint64_t number, std::string& out) { write_shortest(number, out); }

void write_value(const json::value& value, std::string& out) {
    switch (value.kind()) {
        case json::kind::null: out += "null"; break;
        case json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
        case json::kind::int64: write_number(value.get_int64(), out); break;
        case json::kind::uint64: write_number(value.get_uint64(), out); break;
        case json::kind::double_: write_number(value.get_double(), out); break;
        case json::kind::string: write_text(value.get_string(), out); break;
        case json::kind::array: write_array(value.get_array(), out); break;
        case json::kind::object: write_object(value.get_object(), out); break;
    }
}

}  // namespace svc::decl

// Flags and numbers, from JSON and from text.

#include "decl/from_db.hpp"
#include "decl/json.hpp"
#include "decl/reader.hpp"

#include <boost/json/string.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace svc {

namespace {

constexpr auto lowest_int = std::numeric_limits<std::int64_t>::min();
constexpr auto highest_int = std::numeric_limits<std::int64_t>::max();

void reject_low(Reader& reader, const json::value& in, std::int64_t bound) {
    reader.reject(
        "greater_than_equal",
        "Should be at least " + std::to_string(bound),
        &in,
        decl::ctx_of("ge", bound)
    );
}

void reject_high(Reader& reader, const json::value& in, std::int64_t bound) {
    reader.reject(
        "less_than_equal",
        "Should be at most " + std::to_string(bound),
        &in,
        decl::ctx_of("le", bound)
    );
}

template <class Number>
bool in_bounds(Reader& reader, const Rules& rules, const json::value& in, Number number) {
    if (reader.trusted) return true;
    if (rules.lowest != lowest_int && number < static_cast<Number>(rules.lowest))
        return reject_low(reader, in, rules.lowest), false;
    if (rules.highest != highest_int && number > static_cast<Number>(rules.highest))
        return reject_high(reader, in, rules.highest), false;
    return true;
}

// A whole number that 64 bits do not hold: out of the field's bounds or, without any, of ours.
void reject_huge(Reader& reader, const Rules& rules, const json::value& in, bool negative) {
    if (negative && rules.lowest != lowest_int) return reject_low(reader, in, rules.lowest);
    if (!negative && rules.highest != highest_int) return reject_high(reader, in, rules.highest);
    reader.reject("int_parsing_size", "Should be an integer of at most 64 bits with a sign", &in);
}

std::optional<std::int64_t> int_of_double(
    Reader& reader, const Rules& rules, const json::value& in, double number
) {
    if (number != std::trunc(number)) {
        reader.reject("int_from_float", "Should be an integer, without a fraction", &in);
        return std::nullopt;
    }
    if (number <= -0x1p63 || number >= 0x1p63)
        return reject_huge(reader, rules, in, number < 0), std::nullopt;
    return static_cast<std::int64_t>(number);
}

bool is_whole(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> int_of_text(
    Reader& reader, const Rules& rules, const json::value& in, std::string_view text
) {
    std::int64_t number = 0;
    if (!is_whole(text)) {
        reader.reject("int_parsing", "Should be an integer, such as 25", &in);
        return std::nullopt;
    }
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{})
        return reject_huge(reader, rules, in, text.starts_with('-')), std::nullopt;
    return number;
}

std::optional<std::int64_t> int_of(Reader& reader, const Rules& rules, const json::value& in) {
    switch (in.kind()) {
        case json::kind::int64: return in.get_int64();
        case json::kind::uint64: return reject_huge(reader, rules, in, false), std::nullopt;
        case json::kind::double_: return int_of_double(reader, rules, in, in.get_double());
        case json::kind::string:
            if (reader.loose) return int_of_text(reader, rules, in, in.get_string());
            [[fallthrough]];
        default: reader.reject("int_type", "Should be an integer", &in); return std::nullopt;
    }
}

std::optional<double> double_of_text(std::string_view text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (stop != end || text.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return HUGE_VAL;
    return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::optional<double> double_of(Reader& reader, const json::value& in) {
    switch (in.kind()) {
        case json::kind::int64: return static_cast<double>(in.get_int64());
        case json::kind::uint64: return static_cast<double>(in.get_uint64());
        case json::kind::double_: return in.get_double();
        case json::kind::string:
            if (reader.loose) {
                const auto number = double_of_text(in.get_string());
                if (!number) reader.reject("float_parsing", "Should be a number, such as 2.5", &in);
                return number;
            }
            [[fallthrough]];
        default: reader.reject("float_type", "Should be a number", &in); return {};
    }
}

std::optional<bool> flag_of_text(std::string_view text) {
    constexpr std::string_view yes[] = {"true", "1", "yes", "on"};
    constexpr std::string_view no[] = {"false", "0", "no", "off"};
    const auto same = [&](std::string_view word) {
        return std::ranges::equal(text, word, [](char a, char b) {
            return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
        });
    };
    if (std::ranges::any_of(yes, same)) return true;
    if (std::ranges::any_of(no, same)) return false;
    return std::nullopt;
}

}  // namespace

void Json<bool>::read(Reader& reader, const Rules&, const json::value& in, bool& out) {
    if (const bool* flag = in.if_bool()) {
        out = *flag;
    } else if (!reader.loose || !in.is_string()) {
        reader.reject("bool_type", "Should be true or false", &in);
    } else if (const auto flag_in_text = flag_of_text(in.get_string())) {
        out = *flag_in_text;
    } else {
        reader.reject("bool_parsing", "Should be true or false", &in);
    }
}
void Json<bool>::write(const bool& in, std::string& out) { out += in ? "true" : "false"; }
void Json<bool>::from_db(Cell cell, bool& out) {
    const std::string_view text = decl::present(cell);
    if (text != "t" && text != "f" && text != "true" && text != "false")
        decl::misfit(cell, "a boolean");
    out = text.front() == 't';
}
bool Json<bool>::empty(const bool& in) { return !in; }

void Json<std::int64_t>::read(
    Reader& reader, const Rules& rules, const json::value& in, std::int64_t& out
) {
    const auto number = int_of(reader, rules, in);
    if (number && in_bounds(reader, rules, in, *number)) out = *number;
}
void Json<std::int64_t>::write(const std::int64_t& in, std::string& out) {
    decl::write_number(in, out);
}
void Json<std::int64_t>::from_db(Cell cell, std::int64_t& out) {
    const std::string_view text = decl::present(cell);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, out);
    if (stop != end || error != std::errc{}) decl::misfit(cell, "an integer");
}
bool Json<std::int64_t>::empty(const std::int64_t&) { return false; }

void Json<double>::read(Reader& reader, const Rules& rules, const json::value& in, double& out) {
    const auto number = double_of(reader, in);
    if (!number) return;
    if (!std::isfinite(*number))
        return reader.reject("finite_number", "Should be a finite number", &in);
    if (in_bounds(reader, rules, in, *number)) out = *number;
}
void Json<double>::write(const double& in, std::string& out) { decl::write_number(in, out); }
void Json<double>::from_db(Cell cell, double& out) {
    const std::string_view text = decl::present(cell);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, out);
    if (stop != end || error != std::errc{}) decl::misfit(cell, "a number");
}
bool Json<double>::empty(const double&) { return false; }

}  // namespace svc

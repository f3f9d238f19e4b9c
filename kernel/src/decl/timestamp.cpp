#include "decl/timestamp.hpp"

#include <array>
#include <chrono>

namespace svc {

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;

// Takes a text apart from left to right.
struct Scanner {
    std::string_view rest;

    bool skip(std::string_view any_of) {
        if (rest.empty() || any_of.find(rest.front()) == any_of.npos) return false;
        rest.remove_prefix(1);
        return true;
    }
    // Exactly `count` digits, at most `highest`.
    bool number(std::size_t count, int highest, int& out) {
        if (rest.size() < count) return false;
        out = 0;
        for (char c : rest.substr(0, count)) {
            if (c < '0' || c > '9') return false;
            out = out * 10 + (c - '0');
        }
        rest.remove_prefix(count);
        return out <= highest;
    }
    bool date(std::chrono::sys_days& out) {
        int year, month, dom;
        if (!number(4, 9999, year) || !skip("-") || !number(2, 12, month) || !skip("-") ||
            !number(2, 31, dom) || year == 0)
            return false;
        const std::chrono::year_month_day ymd{
            std::chrono::year(year),
            std::chrono::month(static_cast<unsigned>(month)),
            std::chrono::day(static_cast<unsigned>(dom))};
        out = std::chrono::sys_days(ymd);
        return ymd.ok();
    }
    // Microseconds of the digits after a point; finer ones are dropped.
    bool fraction(std::int64_t& out) {
        out = 0;
        std::int64_t unit = second;
        std::size_t count = 0;
        for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; ++count) {
            unit /= 10;
            out += unit * (rest.front() - '0');
            rest.remove_prefix(1);
        }
        return count > 0 && count <= 18;
    }
    bool offset(std::int64_t& out) {
        const bool west = rest.starts_with('-');
        int hours, minutes = 0;
        if (!skip("+-") || !number(2, 23, hours)) return false;
        if (!rest.empty() && (!skip(":") || !number(2, 59, minutes))) return false;
        out = hours * hour + minutes * minute;
        if (west) out = -out;
        return true;
    }
};

constexpr std::int64_t micros_of(std::chrono::sys_days date) {
    return date.time_since_epoch().count() * day;
}

// The instants that four digits of year can say.
constexpr std::int64_t earliest = micros_of(std::chrono::year(1) / 1 / 1);
constexpr std::int64_t latest = micros_of(std::chrono::year(10000) / 1 / 1) - 1;

void put(char* to, int digits, int value) {
    while (digits-- > 0) {
        to[digits] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
}

}  // namespace

decl::TimeProblem decl::parse_time(std::string_view text, Timestamp& out) {
    Scanner in{text};
    std::chrono::sys_days date;
    int hours, minutes, seconds;
    if (!in.date(date) || !in.skip("Tt ") || !in.number(2, 23, hours) || !in.skip(":") ||
        !in.number(2, 59, minutes) || !in.skip(":") || !in.number(2, 59, seconds))
        return TimeProblem::malformed;
    std::int64_t micros = micros_of(date) + hours * hour + minutes * minute + seconds * second;
    if (in.skip(".")) {
        std::int64_t fraction;
        if (!in.fraction(fraction)) return TimeProblem::malformed;
        micros += fraction;
    }
    if (in.rest.empty()) return TimeProblem::no_offset;
    std::int64_t offset = 0;
    if (!in.skip("Zz") && !in.offset(offset)) return TimeProblem::malformed;
    micros -= offset;
    if (!in.rest.empty() || micros < earliest || micros > latest) return TimeProblem::malformed;
    out.micros = micros;
    return TimeProblem::none;
}

bool decl::is_date(std::string_view text) {
    Scanner in{text};
    std::chrono::sys_days ignored;
    return in.date(ignored) && in.rest.empty();
}

std::optional<Timestamp> Timestamp::parse(std::string_view text) {
    Timestamp time;
    if (decl::parse_time(text, time) != decl::TimeProblem::none) return std::nullopt;
    return time;
}

Timestamp Timestamp::now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

void Timestamp::append_to(std::string& out) const {
    using std::chrono::floor;
    const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(micros)};
    const auto date = floor<std::chrono::days>(time);
    const std::chrono::year_month_day ymd(date);
    const auto millis = static_cast<int>(floor<std::chrono::milliseconds>(time - date).count());
    char text[] = "0000-00-00T00:00:00.000Z";
    put(text, 4, static_cast<int>(ymd.year()));
    put(text + 5, 2, static_cast<int>(static_cast<unsigned>(ymd.month())));
    put(text + 8, 2, static_cast<int>(static_cast<unsigned>(ymd.day())));
    put(text + 11, 2, millis / 3'600'000);
    put(text + 14, 2, millis / 60'000 % 60);
    put(text + 17, 2, millis / 1000 % 60);
    put(text + 20, 3, millis % 1000);
    out.append(text, sizeof(text) - 1);
}

void Timestamp::append_exact_to(std::string& out) const {
    append_to(out);
    auto rest = static_cast<int>(micros % 1000);
    if (rest < 0) rest += 1000;
    char text[] = "000Z";
    put(text, 3, rest);
    out.pop_back();  // the Z
    out.append(text, sizeof(text) - 1);
}

std::string Timestamp::str() const {
    std::string text;
    append_to(text);
    return text;
}

}  // namespace svc

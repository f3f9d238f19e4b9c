#pragma once

#include "svc/record.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// The value types of the interface (contract section 3). Each is parsed once, at
/// the border, and trusted from there on. All are plain values: any thread may
/// hold, copy and compare them.
namespace svc {

/// A UUID. Reads the hyphenated form and the bare 32 hex digits, in either case;
/// writes lower-case with hyphens. Default-built it is the nil UUID.
class Uuid {
public:
    static std::optional<Uuid> parse(std::string_view text);
    std::string str() const;
    void append_to(std::string& out) const;
    bool nil() const { return bytes_ == std::array<std::uint8_t, 16>{}; }
    const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
    auto operator<=>(const Uuid&) const = default;

    explicit Uuid(const std::array<std::uint8_t, 16>& bytes) : bytes_(bytes) {}
    Uuid() = default;

private:
    std::array<std::uint8_t, 16> bytes_{};
};

/// A fresh UUIDv7 (RFC 9562): milliseconds, then random bits. Rows made later sort later.
Uuid new_uuid();
/// What two servers are unlikely to draw together; no secret is made of them.
std::uint64_t random_bits();

/// An instant, in microseconds since 1970-01-01 UTC. Written as
/// `YYYY-MM-DDTHH:MM:SS.mmmZ`; read from RFC 3339 text with an offset.
/// A text without offset is refused as `timezone_aware`.
struct Timestamp {
    std::int64_t micros = 0;

    static std::optional<Timestamp> parse(std::string_view text);
    /// This machine's clock: for logs and cookies. Leases, windows and expiries use the database's.
    static Timestamp now();
    std::string str() const;
    void append_to(std::string& out) const;
    /// To the microsecond, as PostgreSQL keeps it: such texts sort in the order of time.
    void append_exact_to(std::string& out) const;
    auto operator<=>(const Timestamp&) const = default;
};

/// UUIDv7 are in the order of time: not above any id that new_uuid() gives at or after that time.
Uuid first_id_at(const Timestamp& time);
/// Not below any id.
Uuid last_id();

/// Text in a known format. The only way to obtain a non-empty one is to parse it, so a
/// function that takes an Email need not check it again.
template <class Format>
class Text {
public:
    Text() = default;
    /// The text, normalised, or nothing when it is not of this format.
    static std::optional<Text> parse(std::string_view raw) {
        Text text;
        text.value_ = raw;
        return Format::accept(text.value_) ? std::optional(std::move(text)) : std::nullopt;
    }
    const std::string& str() const { return value_; }
    auto operator<=>(const Text&) const = default;

private:
    std::string value_;
};

/// Formats. `accept` may normalise the text it is given. `name` is JSON Schema's
/// `format`, `error` the validation error type (contract section 2).
namespace format {
/// Trimmed; at most 254 bytes, a local part of any script and a dotted domain, which is kept in
/// ASCII (A-labels).
struct email {
    static constexpr std::string_view name = "email", error = "value_error";
    static bool accept(std::string& text);
};
struct uri {  ///< absolute http or https, at most 2000 bytes
    static constexpr std::string_view name = "uri", error = "url_parsing";
    static bool accept(std::string& text);
};
struct date {  ///< YYYY-MM-DD, a day that exists
    static constexpr std::string_view name = "date", error = "date_parsing";
    static bool accept(std::string& text);
};
}  // namespace format

using Email = Text<format::email>;
using Url = Text<format::uri>;
using Date = Text<format::date>;

/// The key an e-mail address is compared by: in NFC, its case folded as Unicode does.
std::string email_key(const Email& email);

/// A JSON value kept as its text: a jsonb column, or a member whose shape the kernel
/// does not look into. Reading keeps the value as sent (re-serialised); writing copies it.
/// Default-built it is `null`.
struct JsonText {
    std::string text = "null";
    auto operator<=>(const JsonText&) const = default;
};

/// The `object` discriminator of a record: always the same text.
template <std::size_t N>
struct Literal {
    char text[N];
    constexpr Literal(const char (&chars)[N]) {  // NOLINT: meant to convert
        for (std::size_t i = 0; i < N; ++i) text[i] = chars[i];
    }
    constexpr std::string_view view() const { return {text, N - 1}; }
};
template <Literal Name>
struct Object {
    static constexpr std::string_view name = Name.view();
    auto operator<=>(const Object&) const = default;
};

/// One field of a PATCH body: left out means "leave it", present means "set it".
/// Only Patch<std::optional<T>> can be set to null.
template <class T>
class Patch {
public:
    Patch() = default;
    Patch(T value) : given_(true), value_(std::move(value)) {}  // NOLINT: meant to convert
    bool given() const { return given_; }
    const T& value() const { return value_; }
    void apply_to(T& target) const {
        if (given_) target = value_;
    }
    T& give() { return given_ = true, value_; }

private:
    bool given_ = false;
    T value_{};
};

// ------------------------------------------------------------ how they read and write

SVC_BUILTIN_JSON(Uuid);
SVC_BUILTIN_JSON(Timestamp);
SVC_BUILTIN_JSON(JsonText);

template <class T>
inline constexpr bool may_be_absent<Patch<T>> = true;
template <class T>
inline constexpr bool is_list<Patch<T>> = is_list<T>;

template <class T>
struct Json<Patch<T>> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        const bool outer = std::exchange(writer.in_patch, true);
        Json<T>::schema(writer, rules, out);
        writer.in_patch = outer;
    }
    static void read(Reader& reader, const Rules& rules, const json::value& in, Patch<T>& out) {
        Json<T>::read(reader, rules, in, out.give());
    }
    static void write(const Patch<T>& in, std::string& out) { Json<T>::write(in.value(), out); }
    static void from_db(Cell cell, Patch<T>& out) { Json<T>::from_db(cell, out.give()); }
    static bool empty(const Patch<T>& in) { return !in.given(); }
};

namespace detail {
void text_schema(std::string_view format, const Rules& rules, json::object& out);
void literal_schema(std::string_view text, json::object& out);
/// Reads the text of `in` and has `accept` judge it; a refusal is recorded as `error`.
bool read_format(
    Reader&,
    const Rules&,
    const json::value& in,
    std::string& out,
    std::string_view name,
    std::string_view error,
    bool (*accept)(std::string&)
);
}  // namespace detail

template <class Format>
struct Json<Text<Format>> {
    static void schema(SchemaWriter&, const Rules& rules, json::object& out) {
        detail::text_schema(Format::name, rules, out);
    }
    static void read(Reader& reader, const Rules& rules, const json::value& in, Text<Format>& out) {
        std::string text;
        if (!detail::read_format(
                reader, rules, in, text, Format::name, Format::error, &Format::accept
            ))
            return;
        if (auto parsed = Text<Format>::parse(text)) out = std::move(*parsed);
    }
    static void write(const Text<Format>& in, std::string& out) { write_text(in.str(), out); }
    static void from_db(Cell cell, Text<Format>& out) {
        out = Text<Format>::parse(cell.text()).value_or(Text<Format>{});
    }
    static bool empty(const Text<Format>& in) { return in.str().empty(); }
};

template <Literal Name>
struct Json<Object<Name>> {
    static constexpr bool constant = true;  ///< no column fills it, no input may change it
    static void schema(SchemaWriter&, const Rules&, json::object& out) {
        detail::literal_schema(Name.view(), out);
    }
    static void read(Reader&, const Rules&, const json::value&, Object<Name>&) {}
    static void write(const Object<Name>&, std::string& out) { write_text(Name.view(), out); }
    static void from_db(Cell, Object<Name>&) {}
    static bool empty(const Object<Name>&) { return false; }
};

#undef SVC_BUILTIN_JSON

}  // namespace svc

// How the interface's own types read and write.

#include "decl/json.hpp"
#include "decl/reader.hpp"
#include "decl/timestamp.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc {

std::string decl::ctx_of(std::string_view key, std::int64_t value) {
    std::string ctx = "{";
    write_text(key, ctx);
    ctx += ':';
    write_number(value, ctx);
    return ctx += '}';
}

std::string decl::ctx_of(std::string_view key, std::string_view value) {
    std::string ctx = "{";
    write_text(key, ctx);
    ctx += ':';
    write_text(value, ctx);
    return ctx += '}';
}

std::string decl::plural(std::size_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

namespace {

void reject_with_error(
    Reader& reader,
    std::string_view type,
    std::string_view message,
    std::string_view error,
    const json::value& in
) {
    reader.reject(
        type, std::string(message) + ", " + std::string(error), &in, decl::ctx_of("error", error)
    );
}

}  // namespace

// ------------------------------------------------------------------------ Uuid

void Json<Uuid>::read(Reader& reader, const Rules&, const json::value& in, Uuid& out) {
    const auto* text = in.if_string();
    if (!text) return reader.reject("uuid_type", "Should be a UUID, a string", &in);
    if (const auto id = Uuid::parse(*text)) out = *id;
    else
        reject_with_error(
            reader,
            "uuid_parsing",
            "Should be a UUID",
            "expected 32 hexadecimal digits, with or without hyphens",
            in
        );
}
void Json<Uuid>::write(const Uuid& in, std::string& out) {
    out += '"';
    in.append_to(out);
    out += '"';
}
bool Json<Uuid>::empty(const Uuid& in) { return in.nil(); }

// ------------------------------------------------------------------- Timestamp

void Json<Timestamp>::read(Reader& reader, const Rules&, const json::value& in, Timestamp& out) {
    const auto* text = in.if_string();
    if (!text) return reader.reject("datetime_type", "Should be a date and time, a string", &in);
    Timestamp time;
    switch (decl::parse_time(*text, time)) {
        case decl::TimeProblem::none: out = time; break;
        case decl::TimeProblem::no_offset:
            reader.reject(
                "timezone_aware", "Should have an offset from UTC, such as Z or +01:00", &in
            );
            break;
        case decl::TimeProblem::malformed:
            reject_with_error(
                reader,
                "datetime_parsing",
                "Should be a date and time",
                "expected RFC 3339, such as 2026-06-19T10:11:12Z",
                in
            );
    }
}
void Json<Timestamp>::write(const Timestamp& in, std::string& out) {
    out += '"';
    in.append_to(out);
    out += '"';
}
bool Json<Timestamp>::empty(const Timestamp&) { return false; }

// -------------------------------------------------------------------- JsonText

void Json<JsonText>::read(Reader&, const Rules&, const json::value& in, JsonText& out) {
    out.text.clear();
    decl::write_value(in, out.text);
}
void Json<JsonText>::write(const JsonText& in, std::string& out) {
    out += in.text.empty() ? std::string_view("null") : std::string_view(in.text);
}
bool Json<JsonText>::empty(const JsonText& in) { return in.text.empty() || in.text == "null"; }

// --------------------------------------------------------------------- formats

namespace {

struct Wording {
    std::string_view format, message, error, ctx_key;
};
constexpr Wording wordings[] = {
    {"email", "Should be an e-mail address", "expected name@domain.example", "reason"},
    {"uri", "Should be a URL", "expected an absolute http or https address", "error"},
    {"date", "Should be a date", "expected a day that exists, as YYYY-MM-DD", "error"},
};

}  // namespace

bool detail::read_format(
    Reader& reader,
    const Rules& rules,
    const json::value& in,
    std::string& out,
    std::string_view name,
    std::string_view error,
    bool (*accept)(std::string&)
) {
    if (!decl::accept_text(reader, rules, in, out)) return false;
    if (accept(out)) return true;
    const auto known = std::ranges::find(wordings, name, &Wording::format);
    const Wording wording =
        known != std::end(wordings) ? *known : Wording{name, "Has the wrong format", name, "error"};
    const char* separator = wording.ctx_key == "reason" ? ": " : ", ";
    reader.reject(
        error,
        std::string(wording.message) + separator + std::string(wording.error),
        &in,
        decl::ctx_of(wording.ctx_key, wording.error)
    );
    return false;
}

// ------------------------------------------------------- lists, maps and enums

namespace detail {

bool is_null(const json::value& in) { return in.is_null(); }

namespace {

std::string size_ctx(
    std::string_view type, std::string_view bound, std::size_t allowed, std::size_t actual
) {
    std::string ctx = R"({"field_type":)";
    write_text(type, ctx);
    ctx += ",\"" + std::string(bound) + "\":" + std::to_string(allowed);
    return ctx + ",\"actual_length\":" + std::to_string(actual) + '}';
}

void check_size(
    Reader& reader,
    const Rules& rules,
    const json::value& in,
    std::string_view type,
    std::size_t size
) {
    if (reader.trusted) return;
    const auto message = [&](const char* most_or_least, std::size_t allowed) {
        return std::string("Should have at ") + most_or_least + " " +
               decl::plural(allowed, "item") + ", not " + std::to_string(size);
    };
    if (size < rules.shortest)
        reader.reject(
            "too_short",
            message("least", rules.shortest),
            &in,
            size_ctx(type, "min_length", rules.shortest, size)
        );
    if (size > rules.longest)
        reader.reject(
            "too_long",
            message("most", rules.longest),
            &in,
            size_ctx(type, "max_length", rules.longest, size)
        );
}

}  // namespace

std::size_t count_elements(Reader& reader, const Rules& rules, const json::value& in) {
    const auto* list = in.if_array();
    if (!list) return reader.reject("list_type", "Should be an array", &in), 0;
    check_size(reader, rules, in, "List", list->size());
    return list->size();
}

const json::value& element(const json::value& in, std::size_t index) {
    return in.get_array()[index];
}

void each_member(
    Reader& reader,
    const Rules& rules,
    const json::value& in,
    void* context,
    void (*each)(void* context, std::string_view key, const json::value&)
) {
    const auto* object = in.if_object();
    if (!object) return reader.reject("dict_type", "Should be an object", &in);
    check_size(reader, rules, in, "Dictionary", object->size());
    for (const auto& [key, value] : *object) {
        auto step = reader.at(std::string_view(key));
        each(context, key, value);
    }
}

std::size_t read_enum(
    Reader& reader, std::span<const std::string_view> names, const json::value& in
) {
    if (const auto* name = in.if_string()) {
        const auto found = std::ranges::find(names, std::string_view(*name));
        if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    }
    std::string expected;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) expected += i + 1 == names.size() ? " or " : ", ";
        expected.append("'").append(names[i]).append("'");
    }
    reader.reject("enum", "Should be " + expected, &in, decl::ctx_of("expected", expected));
    return 0;
}

}  // namespace detail

}  // namespace svc

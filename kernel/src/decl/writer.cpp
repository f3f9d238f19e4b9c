#include "decl/utf8.hpp"
#include "svc/operation.hpp"

#include <boost/json/parse.hpp>

#include <bit>
#include <cstring>

namespace svc {

namespace {

constexpr std::uint64_t every_byte(std::uint8_t byte) { return 0x0101010101010101u * byte; }

// The high bit of each byte that is zero; bits above the first one found may be wrong.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
    return (word - every_byte(0x01)) & ~word & every_byte(0x80);
}

// Where the text stops being printable ASCII that stands for itself.
const char* skip_plain(const char* at, const char* end) {
    while (end - at >= 8) {
        std::uint64_t word;
        std::memcpy(&word, at, sizeof(word));
        const std::uint64_t control = (word - every_byte(0x20)) & ~word;
        const std::uint64_t special = zero_bytes(word ^ every_byte('"')) |
                                      zero_bytes(word ^ every_byte('\\')) |
                                      ((control | word) & every_byte(0x80));
        if (special) {
            static_assert(std::endian::native == std::endian::little);
            return at + std::countr_zero(special) / 8;
        }
        at += 8;
    }
    while (at != end) {
        const auto byte = static_cast<unsigned char>(*at);
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
        ++at;
    }
    return at;
}

void write_escape(char c, std::string& out) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\b': out += "\\b"; break;
        case '\f': out += "\\f"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        default:
            out += "\\u00";
            out += hex[static_cast<unsigned char>(c) >> 4];
            out += hex[c & 0x0F];
    }
}

// While set, this thread's write() passes over secret fields, at any depth.
thread_local bool secrets_hidden = false;

// One of several records: its fields without its braces.
void write_alternative(const Field& field, const void* member, std::string& out) {
    std::string whole;
    field.codec->write(member, whole);
    if (whole.size() <= 2) return;
    if (out.back() != '{') out += ',';
    out.append(whole, 1, whole.size() - 2);
}

void write_fields(const Record& record, const void* from, std::string& out) {
    for (const Field& field : record.fields) {
        const void* member = field.in_const(from);
        if (field.rules.flatten) {
            if (field.codec->record) write_fields(field.codec->record(), member, out);
            else write_alternative(field, member, out);
            continue;
        }
        if (field.rules.secret && secrets_hidden) continue;
        if (field.rules.omit_empty && field.codec->empty(member)) continue;
        // Names are C++ identifiers, so they need no escaping.
        out += out.back() == '{' ? "\"" : ",\"";
        out += field.name;
        out += "\":";
        field.codec->write(member, out);
    }
}

/// The same object said otherwise: PostgreSQL writes the members of jsonb in an order of its own.
bool same_object(std::string_view was, std::string_view is) {
    if (!was.starts_with('{') || !is.starts_with('{')) return false;
    boost::system::error_code unclear;
    const json::value one = json::parse(was, unclear);
    if (unclear) return false;
    const json::value other = json::parse(is, unclear);
    return !unclear && one == other;
}

class Difference {
public:
    Difference(std::string& changes, std::string& previous, std::string* whole)
        : changes_(changes), previous_(previous), whole_(whole) {}

    void collect(const Record& record, const void* before, const void* after) {
        for (const Field& field : record.fields) {
            if (field.rules.secret) continue;
            const void* const member_before = before ? field.in_const(before) : nullptr;
            const void* const member_after = field.in_const(after);
            if (field.rules.flatten && field.codec->record) {
                collect(field.codec->record(), member_before, member_after);
                continue;
            }
            show(field, member_before, was_);
            show(field, member_after, is_);
            if (whole_ && !is_.empty()) add(field, is_, *whole_);
            if (was_ == is_ || same_object(was_, is_)) continue;
            add(field, is_, changes_);
            if (before) add(field, was_, previous_);
        }
    }

private:
    static void add(const Field& field, std::string_view json, std::string& object) {
        if (object.back() != '{') object += ',';
        object += '"';
        object += field.name;
        object += "\":";
        object += json.empty() ? "null" : json;
    }
    // What an answer would show of the field; nothing when it would leave it out.
    static void show(const Field& field, const void* member, std::string& json) {
        json.clear();
        if (member && !(field.rules.omit_empty && field.codec->empty(member)))
            field.codec->write(member, json);
    }

    std::string& changes_;
    std::string& previous_;
    std::string* const whole_;
    std::string was_, is_;  // of one field; here, so that their memory serves the next one too
};

}  // namespace

void write_text(std::string_view text, std::string& out) {
    out += '"';
    const char* const end = text.data() + text.size();
    const char* from = text.data();
    for (const char* at = from; (at = skip_plain(at, end)) != end;) {
        const std::string_view rest(at, static_cast<std::size_t>(end - at));
        if (static_cast<unsigned char>(*at) < 0x80) {
            out.append(from, at);
            write_escape(*at, out);
            from = ++at;
        } else if (const std::size_t bytes = decl::utf8::beyond_ascii(rest)) {
            at += bytes;
        } else {
            out.append(from, at);
            out += "\xEF\xBF\xBD";
            from = at += decl::utf8::ill_formed(rest);
        }
    }
    out.append(from, end);
    out += '"';
}

void write(const Record& record, const void* from, std::string& out) {
    out += '{';
    write_fields(record, from, out);
    out += '}';
}

void write_difference(
    const Record& record,
    const void* before,
    const void* after,
    std::string& changes,
    std::string& previous,
    std::string* whole
) {
    struct Hiding {
        bool outer = std::exchange(secrets_hidden, true);
        ~Hiding() { secrets_hidden = outer; }
    } hiding;
    // Of most records, so that they need not grow step by step.
    constexpr std::size_t usual_difference = 500, usual_whole = 1500;
    changes.reserve(usual_difference);
    previous.reserve(usual_difference);
    changes = previous = "{";
    if (whole) {
        whole->reserve(usual_whole);
        *whole = "{";
    }
    Difference{changes, previous, whole}.collect(record, before, after);
    changes += '}';
    previous += '}';
    if (whole) *whole += '}';
}

}  // namespace svc

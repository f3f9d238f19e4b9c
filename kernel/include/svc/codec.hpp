#pragma once

#include "svc/reader.hpp"

#include <boost/describe/enum.hpp>
#include <boost/describe/enumerators.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

/// How a C++ type is read, written and described.
namespace svc {

/// How one C++ type appears in JSON and in a database row. Specialise it to teach the
/// kernel a type:
///   static void schema(SchemaWriter&, const Rules&, json::object& out);
///   static void read(Reader&, const Rules&, const json::value&, T& out);
///   static void write(const T&, std::string& out);   appends JSON text
///   static void from_db(Cell, T& out);
///   static bool empty(const T&);                     what `omit_empty` leaves out
template <class T>
struct Json;

/// Json<T> with the T rubbed off, one per type in the whole program.
struct Codec {
    void (*schema)(SchemaWriter&, const Rules&, json::object&);
    void (*read)(Reader&, const Rules&, const json::value&, void*);
    void (*write)(const void*, std::string&);
    void (*from_db)(Cell, void*);
    bool (*empty)(const void*);
    void (*check)(Reader&, const Rules&, const json::value&);  ///< reads and forgets
    const Record& (*record)();  ///< null unless the type is a described struct
    const Record& (*item)();    ///< of the elements of a list of such structs, else null
    bool may_be_absent;
    bool constant;  ///< an Object<…> discriminator
    bool list;      ///< a query may name it several times
};

template <class T>
inline constexpr bool may_be_absent = false;
template <class T>
inline constexpr bool may_be_absent<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_list<std::optional<T>> = is_list<T>;

/// The description that SVC_RECORD makes of T, found by argument-dependent lookup.
template <class T>
const Record& record_of() {
    return svc_describe(static_cast<const T*>(nullptr));
}

template <class T>
concept Described = requires {
    svc_describe(static_cast<const T*>(nullptr));
};

/// Appends the record as a JSON object.
void write(const Record& record, const void* from, std::string& out);
/// Appends a JSON string, quoted and escaped. What is not UTF-8 in `text` becomes U+FFFD.
void write_text(std::string_view text, std::string& out);

namespace detail {

template <class T>
constexpr auto record_getter() -> const Record& (*)() {
    if constexpr (Described<T>) return &record_of<T>;
    else return nullptr;
}
template <class T>
constexpr auto item_getter() -> const Record& (*)() {
    if constexpr (!is_list<T>) return nullptr;
    else if constexpr (requires(const T& maybe) { maybe.value(); })
        return item_getter<std::remove_cvref_t<decltype(std::declval<const T&>().value())>>();
    else return record_getter<typename T::value_type>();
}
template <class T>
constexpr bool is_constant() {
    if constexpr (requires { Json<T>::constant; }) return true;
    else return false;
}

}  // namespace detail

template <class T>
inline constexpr Codec codec{
    [](SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<T>::schema(writer, rules, out);
    },
    [](Reader& reader, const Rules& rules, const json::value& in, void* out) {
        Json<T>::read(reader, rules, in, *static_cast<T*>(out));
    },
    [](const void* in, std::string& out) { Json<T>::write(*static_cast<const T*>(in), out); },
    [](Cell cell, void* out) { Json<T>::from_db(cell, *static_cast<T*>(out)); },
    [](const void* in) { return Json<T>::empty(*static_cast<const T*>(in)); },
    [](Reader& reader, const Rules& rules, const json::value& in) {
        T scratch{};
        Json<T>::read(reader, rules, in, scratch);
    },
    detail::record_getter<T>(),
    detail::item_getter<T>(),
    may_be_absent<T>,
    detail::is_constant<T>(),
    is_list<T>,
};

namespace detail {

/// A C++ keyword is spelled with a trailing underscore, which the wire does not carry.
constexpr std::string_view wire_name(std::string_view name) {
    if (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

template <template <class...> class List, class... Each>
constexpr std::array<std::string_view, sizeof...(Each)> enumerator_names(List<Each...>) {
    return {wire_name(Each::name)...};
}

// The parts of reading and writing that need to see inside a json::value.
bool is_null(const json::value& in);
void make_nullable(json::object& schema);
std::size_t count_elements(Reader&, const Rules&, const json::value& in);
const json::value& element(const json::value& in, std::size_t index);
json::object& list_schema(const Rules&, json::object& out);
json::object& map_schema(const Rules&, json::object& out);
/// Calls `each(key, value)` for every member, inside a step of that name.
void each_member(
    Reader&,
    const Rules&,
    const json::value& in,
    void* context,
    void (*each)(void* context, std::string_view key, const json::value&)
);
void enum_schema(std::span<const std::string_view> names, json::object& out);
std::size_t read_enum(Reader&, std::span<const std::string_view> names, const json::value& in);
std::size_t enum_from_db(std::span<const std::string_view> names, Cell cell);
/// Parses a json or jsonb cell and hands the value to `read`; a cell that does not fit the
/// type is a std::logic_error: the statement and the record disagree.
void read_json_cell(Cell cell, const Codec& codec, void* out);
void any_of_schema(SchemaWriter&, std::span<const Codec* const> codecs, json::object& out);

}  // namespace detail

// ---------------------------------------------------------------- known types

#define SVC_BUILTIN_JSON(T)                                              \
    template <>                                                          \
    struct Json<T> {                                                     \
        static void schema(SchemaWriter&, const Rules&, json::object&);  \
        static void read(Reader&, const Rules&, const json::value&, T&); \
        static void write(const T&, std::string&);                       \
        static void from_db(Cell, T&);                                   \
        static bool empty(const T&);                                     \
    }
SVC_BUILTIN_JSON(bool);
SVC_BUILTIN_JSON(std::int64_t);
SVC_BUILTIN_JSON(double);
SVC_BUILTIN_JSON(std::string);

template <class T>
struct Json<std::optional<T>> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<T>::schema(writer, rules, out);
        if (!rules.omit_empty && (!writer.brief || writer.in_patch)) detail::make_nullable(out);
    }
    static void read(
        Reader& reader, const Rules& rules, const json::value& in, std::optional<T>& out
    ) {
        if (detail::is_null(in)) return out.reset();
        Json<T>::read(reader, rules, in, out.emplace());
    }
    static void write(const std::optional<T>& in, std::string& out) {
        if (in) Json<T>::write(*in, out);
        else out += "null";
    }
    static void from_db(Cell cell, std::optional<T>& out) {
        if (cell.null) return out.reset();
        Json<T>::from_db(cell, out.emplace());
    }
    static bool empty(const std::optional<T>& in) { return !in; }
};

template <class T>
struct Json<std::vector<T>> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<T>::schema(writer, item(rules), detail::list_schema(rules, out));
    }
    static void read(
        Reader& reader, const Rules& rules, const json::value& in, std::vector<T>& out
    ) {
        out.clear();
        const std::size_t count = detail::count_elements(reader, rules, in);
        out.reserve(count);
        for (std::size_t index = 0; index < count; ++index) {
            auto step = reader.at(index);
            Json<T>::read(reader, item(rules), detail::element(in, index), out.emplace_back());
        }
    }
    static void write(const std::vector<T>& in, std::string& out) {
        out += '[';
        for (const T& element : in) {
            if (&element != in.data()) out += ',';
            Json<T>::write(element, out);
        }
        out += ']';
    }
    static void from_db(Cell cell, std::vector<T>& out) {
        detail::read_json_cell(cell, codec<std::vector<T>>, &out);
    }
    static bool empty(const std::vector<T>& in) { return in.empty(); }

private:
    static Rules item(const Rules& rules) {
        Rules of_item;
        of_item.longest = rules.item_longest;
        of_item.trimmed = rules.trimmed;
        return of_item;
    }
};

template <class T>
struct Json<std::map<std::string, T>> {
    using Map = std::map<std::string, T>;
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Rules of_item;
        of_item.longest = rules.item_longest;
        Json<T>::schema(writer, of_item, detail::map_schema(rules, out));
    }
    static void read(Reader& reader, const Rules& rules, const json::value& in, Map& out) {
        struct Context {
            Reader& reader;
            const Rules& rules;
            Map& out;
        } context{reader, rules, out};
        detail::each_member(
            reader,
            rules,
            in,
            &context,
            [](void* at, std::string_view key, const json::value& value) {
                auto& to = *static_cast<Context*>(at);
                Rules of_item;
                of_item.longest = to.rules.item_longest;
                Json<T>::read(to.reader, of_item, value, to.out[std::string(key)]);
            }
        );
    }
    static void write(const Map& in, std::string& out) {
        out += '{';
        bool first = true;
        for (const auto& [key, value] : in) {
            if (!first) out += ',';
            first = false;
            write_text(key, out);
            out += ':';
            Json<T>::write(value, out);
        }
        out += '}';
    }
    static void from_db(Cell cell, Map& out) { detail::read_json_cell(cell, codec<Map>, &out); }
    static bool empty(const Map& in) { return in.empty(); }
};

template <Described T>
struct Json<T> {
    static void schema(SchemaWriter& writer, const Rules&, json::object& out) {
        writer.reference(record_of<T>(), out);
    }
    static void read(Reader& reader, const Rules&, const json::value& in, T& out) {
        reader.read(record_of<T>(), in, &out);
    }
    static void write(const T& in, std::string& out) { svc::write(record_of<T>(), &in, out); }
    static void from_db(Cell cell, T& out) { detail::read_json_cell(cell, codec<T>, &out); }
    static bool empty(const T&) { return false; }
};

/// Alternatives an answer may take: written as the one it holds, described as anyOf.
/// Input types are never variants.
template <Described... T>
struct Json<std::variant<T...>> {
    static void schema(SchemaWriter& writer, const Rules&, json::object& out) {
        static constexpr const Codec* each[] = {&codec<T>...};
        detail::any_of_schema(writer, each, out);
    }
    static void read(Reader&, const Rules&, const json::value&, std::variant<T...>&) {
        throw std::logic_error("a variant is for answers only");
    }
    static void from_db(Cell, std::variant<T...>&) {
        throw std::logic_error("a variant is for answers only");
    }
    static bool empty(const std::variant<T...>&) { return false; }
    static void write(const std::variant<T...>& in, std::string& out) {
        std::visit(
            [&](const auto& held) {
                svc::write(record_of<std::decay_t<decltype(held)>>(), &held, out);
            },
            in
        );
    }
};

/// Enumerators are their own wire names. One that would be a C++ keyword is
/// spelled with a trailing underscore, which the wire does not carry.
template <class T>
requires std::is_enum_v<T>
struct Json<T> {
    static constexpr std::span<const std::string_view> names() { return list; }
    static void schema(SchemaWriter&, const Rules&, json::object& out) {
        detail::enum_schema(names(), out);
    }
    static void read(Reader& reader, const Rules&, const json::value& in, T& out) {
        out = static_cast<T>(detail::read_enum(reader, names(), in));
    }
    static void write(const T& in, std::string& out) {
        write_text(names()[static_cast<std::size_t>(in)], out);
    }
    static void from_db(Cell cell, T& out) {
        out = static_cast<T>(detail::enum_from_db(names(), cell));
    }
    static bool empty(const T&) { return false; }

private:
    static constexpr auto list =
        detail::enumerator_names(boost::describe::describe_enumerators<T>{});
};

/// The wire name of an enumerator.
template <class T>
requires std::is_enum_v<T> std::string_view name_of(T each) {
    return Json<T>::names()[static_cast<std::size_t>(each)];
}

/// The enumerator of that wire name; nothing when there is none.
template <class T>
requires std::is_enum_v<T> std::optional<T> enumerator_of(std::string_view name) {
    const auto names = Json<T>::names();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<T>(found - names.begin());
}

}  // namespace svc

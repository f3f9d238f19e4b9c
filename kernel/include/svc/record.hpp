#pragma once

#include <boost/describe/enum.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/json/fwd.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

/// A described struct is the single source of its shape. The reader, the writer, the
/// JSON Schema and the mapping of database rows all walk the same list of fields, so
/// they cannot differ.
///
/// This header names Boost.JSON's types but never includes them: a module that only
/// declares structs does not pay for compiling a JSON library.
namespace svc {

namespace json = boost::json;

/// What one field promises beyond its type. Bounds on numbers are inclusive; lengths
/// count Unicode code points of text, items of lists, members of maps.
struct Rules {
    std::string_view doc{};
    std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    std::size_t shortest = 0;
    std::size_t longest = std::numeric_limits<std::size_t>::max();
    std::size_t item_longest = std::numeric_limits<std::size_t>::max();  ///< of each text in a list
    /// A regular expression that the whole text must match: what ECMAScript and RE2 both know, so
    /// no look-around and no back-references. Matching takes linear time.
    std::string_view pattern{};
    std::string_view header{};  ///< sent as this request header (lower case)
    bool in_query = false;      ///< sent in the query string even when there is a body
    bool defaulted = false;     ///< may be left out; the member's initialiser stands
    /// A name or a title: surrounding white space is removed before lengths are counted, and
    /// control characters are refused.
    bool trimmed = false;
    bool multiline = false;  ///< of trimmed text: tabs and line breaks are taken
    bool left_out = false;   ///< an output member that is absent, not null, when empty ("opt")
    bool echo = false;       ///< read-only: accepted in input and ignored
    bool spread = false;     ///< a nested record whose fields stand beside this one's siblings
    bool secret = false;     ///< never logged (in a path neither), never in an event or audit entry
};

// The words a field list is written in.
constexpr auto length(std::size_t shortest, std::size_t longest) {
    return [=](Rules& rules) { rules.shortest = shortest, rules.longest = longest; };
}
constexpr auto items_up_to(std::size_t longest) {
    return [=](Rules& rules) { rules.item_longest = longest; };
}
constexpr auto range(std::int64_t lowest, std::int64_t highest) {
    return [=](Rules& rules) { rules.lowest = lowest, rules.highest = highest; };
}
constexpr auto matches(std::string_view pattern) {
    return [=](Rules& rules) { rules.pattern = pattern; };
}
constexpr auto in_header(std::string_view name) {
    return [=](Rules& rules) { rules.header = name; };
}
constexpr auto in_query = [](Rules& rules) { rules.in_query = true; };
constexpr auto defaulted = [](Rules& rules) { rules.defaulted = true; };
constexpr auto trimmed = [](Rules& rules) { rules.trimmed = true; };
constexpr auto multiline = [](Rules& rules) { rules.multiline = true; };
constexpr auto left_out = [](Rules& rules) { rules.left_out = true; };
constexpr auto echo = [](Rules& rules) { rules.echo = true; };
constexpr auto spread = [](Rules& rules) { rules.spread = true; };
constexpr auto secret = [](Rules& rules) { rules.secret = true; };

struct Record;
struct Field;

/// One value of a database row, in PostgreSQL's text form. Lists and nested records
/// come as json or jsonb columns.
struct Cell {
    const char* data = nullptr;
    std::size_t size = 0;
    bool null = true;
    std::string_view text() const {
        return null ? std::string_view() : std::string_view(data, size);
    }
};

/// Collects the wrong parts of one input, each addressed as the client sent it.
/// Lives on one thread's stack.
class Reader {
public:
    Reader();
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// Reads `in` into `*out`, unknown members refused; problems are recorded, never thrown.
    void read(const Record& record, const json::value& in, void* out);

    /// Reads one field, which `in` may lack (null pointer). Without a `record` (null pointer)
    /// it is only checked.
    void read_field(const Field& field, const json::value* in, void* record);

    /// Records a problem at the present place. `input` is what the client sent there, `ctx`
    /// a JSON object of details (contract section 2), each when there is one.
    void reject(
        std::string_view type,
        std::string_view message,
        const json::value* input = nullptr,
        std::string_view ctx = {}
    );

    /// A step into a member or an element; the step is taken back on destruction.
    class Step {
    public:
        explicit Step(Reader& reader) : reader_(reader) {}
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;
        ~Step();

    private:
        Reader& reader_;
    };
    [[nodiscard]] Step at(std::string_view name);
    [[nodiscard]] Step at(std::size_t index);

    /// Query, path and header values arrive as text; while loose, "25" is a number.
    bool loose = false;
    /// Our own rows come back as they were stored: bounds are not asked again, `echo` members
    /// count, and unknown members (of a newer version) are passed over.
    bool trusted = false;

    bool clean() const;
    /// The `detail` list of a 422 answer: a JSON array as text. The first 200 problems are in it.
    std::string issues() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Writes schemas and remembers which records they mention.
struct SchemaWriter {
    std::string_view ref_prefix;
    bool for_output = false;  ///< in answers every field that is not `left_out` is always present
    /// For tools: what input ignores is not shown, nor null where leaving out says the same.
    bool brief = false;
    bool in_patch = false;  ///< within a Patch, where null clears and so is always shown
    std::map<std::string, const Record*, std::less<>> mentioned{};

    void field(const Record& owner, const Field& field, json::object& out);
    void record(const Record& record, json::object& out);
    void reference(const Record& record, json::object& out);
};

/// How one C++ type appears in JSON and in a database row. Specialise it to teach the
/// kernel a type:
///   static void schema(SchemaWriter&, const Rules&, json::object& out);
///   static void read(Reader&, const Rules&, const json::value&, T& out);
///   static void write(const T&, std::string& out);   appends JSON text
///   static void from_db(Cell, T& out);
///   static bool empty(const T&);                     what `left_out` leaves out
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

struct Field {
    std::string_view name;
    Rules rules;
    const Codec* codec;
    void* (*in)(void* record);  ///< the member's address inside a record
    const void* in_const(const void* record) const { return in(const_cast<void*>(record)); }
    constexpr bool required() const {
        return !rules.defaulted && !rules.echo && !codec->may_be_absent && !codec->constant;
    }
};

struct Record {
    std::string_view name;
    std::span<const Field> fields;
    const void* (*blank)();  ///< a default-built instance, the source of default values

    /// The field of that name, one level deep and through `spread` records; null when there is
    /// none.
    const Field* find(std::string_view name) const;
};

/// The description SVC_RECORD left beside T, found by argument-dependent lookup.
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
template <Described T>
std::string to_json(const T& from) {
    std::string out;
    write(record_of<T>(), &from, out);
    return out;
}

/// Appends a JSON string, quoted and escaped. What is not UTF-8 in `text` becomes U+FFFD.
void write_text(std::string_view text, std::string& out);

/// Sets `changes` and `previous` to two JSON objects with the fields whose JSON differs: their
/// new and their old values. Fields marked `secret` are never written, at any depth. Without
/// `before` (null pointer) every field of `after` is a change. `whole`, if given, gets all of
/// `after` in the same pass.
void write_difference(
    const Record& record,
    const void* before,
    const void* after,
    std::string& changes,
    std::string& previous,
    std::string* whole = nullptr
);

namespace detail {

template <class T>
constexpr auto record_getter() -> const Record& (*)() {
    if constexpr (Described<T>) return &record_of<T>;
    else return nullptr;
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
    may_be_absent<T>,
    detail::is_constant<T>(),
    is_list<T>,
};

namespace detail {

template <class T>
struct member;
template <class Owner, class T>
struct member<T Owner::*> {
    using owner = Owner;
    using type = T;
};

/// A C++ keyword is spelled with a trailing underscore, which the wire does not carry.
constexpr std::string_view wire_name(std::string_view name) {
    if (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

/// No lambda, and the owner among the parameters: g++ gives a lambda one symbol for all structs of
/// the same name in unnamed namespaces, and the linker keeps the member of one of them.
template <class Owner, auto Member>
void* address_in(void* record) {
    return &(static_cast<Owner*>(record)->*Member);
}

template <auto Member, class... Rule>
constexpr Field field(std::string_view name, std::string_view doc, Rule... rule) {
    using Of = member<decltype(Member)>;
    Rules rules;
    rules.doc = doc;
    (rule(rules), ...);
    return {
        wire_name(name), rules, &codec<typename Of::type>, &address_in<typename Of::owner, Member>};
}

template <class T>
const void* blank() {
    static const T instance{};
    return &instance;
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

/// Describes a struct: one row per field, holding its name, its documentation
/// and its rules. A member without a row does not compile.
#define SVC_RECORD(Type, ...)                                                                 \
    static_assert(                                                                            \
        ::boost::pfr::tuple_size_v<Type> == BOOST_PP_VARIADIC_SIZE(__VA_ARGS__),              \
        #Type ": every member needs a row, and every row a member"                            \
    );                                                                                        \
    [[maybe_unused]] inline const ::svc::Record& svc_describe(const Type*) {                  \
        using Self = Type;                                                                    \
        static constexpr ::svc::Field rows[] = {                                              \
            BOOST_PP_SEQ_FOR_EACH(SVC_RECORD_ROW, _, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))}; \
        static constexpr ::svc::Record record{#Type, rows, &::svc::detail::blank<Type>};      \
        return record;                                                                        \
    }                                                                                         \
    static_assert(true, "takes the semicolon")
#define SVC_RECORD_ROW(r, _, row) SVC_RECORD_FIELD row,
#define SVC_RECORD_FIELD(name, ...) ::svc::detail::field<&Self::name>(#name, __VA_ARGS__)

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
        if (!rules.left_out && (!writer.brief || writer.in_patch)) detail::make_nullable(out);
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
    static std::span<const std::string_view> names() {
        static const auto list = [] {
            std::vector<std::string_view> names;
            boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto each) {
                names.push_back(detail::wire_name(each.name));
            });
            return names;
        }();
        return list;
    }
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
};

/// The wire name of an enumerator.
template <class T>
requires std::is_enum_v<T> std::string_view name_of(T each) {
    return Json<T>::names()[static_cast<std::size_t>(each)];
}

}  // namespace svc

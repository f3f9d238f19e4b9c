#pragma once

#include "svc/codec.hpp"

#include <boost/preprocessor/repetition/enum_params.hpp>
#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/seq/size.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>

/// A described struct is the single source of its shape. The reader, the writer, the
/// JSON Schema and the mapping of database rows all walk the same list of fields, so
/// they cannot differ.
namespace svc {

struct Field {
    std::string_view name;
    Rules rules;
    const Codec* codec;
    void* (*in)(void* record);  ///< the member's address inside a record
    const void* in_const(const void* record) const { return in(const_cast<void*>(record)); }
    constexpr bool required() const {
        return !rules.defaulted && !rules.read_only && !codec->may_be_absent && !codec->constant;
    }
};

struct Record {
    std::string_view name;
    std::span<const Field> fields;
    const void* (*blank)();  ///< a default-built instance, the source of default values

    /// The field of that name, one level deep and through `flatten` records; null when there is
    /// none.
    const Field* find(std::string_view name) const;
};

template <Described T>
std::string to_json(const T& from) {
    std::string out;
    write(record_of<T>(), &from, out);
    return out;
}

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
struct member;
template <class Owner, class T>
struct member<T Owner::*> {
    using owner = Owner;
    using type = T;
};

/// No lambda, and the owner among the parameters: g++ gives a lambda one symbol for all structs of
/// the same name in unnamed namespaces, and the linker keeps the member of one of them.
template <class Owner, auto Member>
void* address_in(void* record) {
    return &(static_cast<Owner*>(record)->*Member);
}

template <auto Member, class... Rule>
constexpr Field field(std::string_view name, std::string_view doc = {}, Rule... rule) {
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

}  // namespace detail

/// Describes a struct: one row per field, holding its name, its documentation and its rules. A
/// member without a row does not compile. Rows of the database go without documentation; what
/// clients see says it for every field, but for names that mean the same everywhere, such as `id`
/// (decl/names.cpp).
///
/// SVC_RECORD is for a struct that one .cpp file has to itself. A header says SVC_SHARED_RECORD,
/// which only declares the description; the one file that includes the header behind
/// svc/define_records.hpp compiles it.
#define SVC_RECORD(Type, ...) \
    SVC_DESCRIPTION([[maybe_unused]] inline, Type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
#define SVC_SHARED_RECORD(Type, ...) const ::svc::Record& svc_describe(const Type*)

#define SVC_DESCRIPTION(Linkage, Type, rows_)                                                     \
    Linkage const ::svc::Record& svc_describe(const Type*) {                                      \
        using Self = Type;                                                                        \
        [[maybe_unused]] constexpr auto every_member_has_a_row = [](const Self& self) {           \
            [[maybe_unused]] const auto& [BOOST_PP_ENUM_PARAMS(                                   \
                BOOST_PP_SEQ_SIZE(rows_), member_                                                 \
            )] = self;                                                                            \
        };                                                                                        \
        static constexpr ::svc::Field rows[] = {BOOST_PP_SEQ_FOR_EACH(SVC_RECORD_ROW, _, rows_)}; \
        static constexpr ::svc::Record record{#Type, rows, &::svc::detail::blank<Type>};          \
        return record;                                                                            \
    }                                                                                             \
    static_assert(true, "takes the semicolon")
#define SVC_RECORD_ROW(r, _, row) SVC_RECORD_FIELD row,
#define SVC_RECORD_FIELD(name, ...) \
    ::svc::detail::field<&Self::name>(#name __VA_OPT__(, ) __VA_ARGS__)

}  // namespace svc

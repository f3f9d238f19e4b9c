#pragma once

#include <boost/preprocessor/arithmetic/add.hpp>
#include <boost/preprocessor/seq/enum.hpp>
#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/seq/for_each_i.hpp>
#include <boost/preprocessor/seq/transform.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/tuple/elem.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>

#include "svc/moment.hpp"
#include "svc/rules.hpp"

#include <optional>
#include <type_traits>

namespace svc::boards {

/// Of what has a null that is what stands for nothing; of all else the first value does.
template <class T>
constexpr auto may_be_left_out =
    [](Rules& rules) { rules.defaulted = !std::is_constructible_v<T, std::nullopt_t>; };

}  // namespace svc::boards

/// The fields of a card that hold what a request says, as it says it. A field is written here and
/// in a migration that adds its column to `cards` and to the end of `card_view`, and nowhere else:
/// the card, the requests that make and change one, its versions, copies, briefs and shared views,
/// and the statements with their parameters are all read off this list. CONTRIBUTING.md adds one.
///
/// A row is the column's name, the type of the value, what it is, and the rules of requests
/// (svc/rules.hpp). Whoever makes a card may leave any of them out.
#define SVC_CARD_FIELDS                                                                            \
    BOOST_PP_VARIADIC_TO_SEQ(                                                                      \
        (due, std::optional<Moment>, "A day (2026-06-19) or an instant (2026-06-19T10:00:00Z)."),  \
        (start, std::optional<Moment>, "A day or an instant."),                                    \
        (priority,                                                                                 \
         Priority,                                                                                 \
         "How urgent it is. Queues offer the urgent first, unless the column says otherwise."),    \
        (estimate, std::optional<double>, "How much work it is, in whatever unit the team counts." \
        )                                                                                          \
    )

// ------------------------------------------------------------------------ members and descriptions

/// Members of a struct: the values themselves, or a Patch of each.
#define SVC_CARD_MEMBERS BOOST_PP_SEQ_FOR_EACH(SVC_CARD_MEMBER, , SVC_CARD_FIELDS)
#define SVC_CARD_PATCHES BOOST_PP_SEQ_FOR_EACH(SVC_CARD_PATCH, , SVC_CARD_FIELDS)
#define SVC_CARD_MEMBER(r, _, field) SVC_CARD_TYPE_OF field SVC_CARD_NAME_OF field{};
#define SVC_CARD_PATCH(r, _, field) Patch<SVC_CARD_TYPE_OF field> SVC_CARD_NAME_OF field;

/// Rows of their records, with a comma between any two: as answers show them, as requests for a new
/// card and for changes take them, and without a word (rows of the database).
#define SVC_CARD_SHOWN \
    BOOST_PP_SEQ_ENUM(BOOST_PP_SEQ_TRANSFORM(SVC_CARD_SHOWN_ROW, , SVC_CARD_FIELDS))
#define SVC_CARD_CREATED \
    BOOST_PP_SEQ_ENUM(BOOST_PP_SEQ_TRANSFORM(SVC_CARD_CREATED_ROW, , SVC_CARD_FIELDS))
#define SVC_CARD_PATCHED \
    BOOST_PP_SEQ_ENUM(BOOST_PP_SEQ_TRANSFORM(SVC_CARD_PATCHED_ROW, , SVC_CARD_FIELDS))
#define SVC_CARD_STORED \
    BOOST_PP_SEQ_ENUM(BOOST_PP_SEQ_TRANSFORM(SVC_CARD_STORED_ROW, , SVC_CARD_FIELDS))
#define SVC_CARD_SHOWN_ROW(s, _, field) (SVC_CARD_NAME_OF field, BOOST_PP_TUPLE_ELEM(2, field))
#define SVC_CARD_CREATED_ROW(s, _, field) \
    (SVC_CARD_NAME_OF field, SVC_CARD_RULES_OF field, may_be_left_out<SVC_CARD_TYPE_OF field>)
#define SVC_CARD_PATCHED_ROW(s, _, field) (SVC_CARD_NAME_OF field, SVC_CARD_RULES_OF field)
#define SVC_CARD_STORED_ROW(s, _, field) (SVC_CARD_NAME_OF field)

// ----------------------------------------------------------------------------- statements of C++

/// `to.name = from.name;` for each.
#define SVC_COPY_CARD_FIELDS(to, from) \
    BOOST_PP_SEQ_FOR_EACH(SVC_COPY_CARD_FIELD, (to, from), SVC_CARD_FIELDS)
#define SVC_COPY_CARD_FIELD(r, sides, field)               \
    BOOST_PP_TUPLE_ELEM(0, sides).SVC_CARD_NAME_OF field = \
        BOOST_PP_TUPLE_ELEM(1, sides).SVC_CARD_NAME_OF field;

/// `function(with, "name", from.name);` for each.
#define SVC_EACH_CARD_FIELD(function, with, from) \
    BOOST_PP_SEQ_FOR_EACH(SVC_ONE_CARD_FIELD, (function, with, from), SVC_CARD_FIELDS)
#define SVC_ONE_CARD_FIELD(r, call, field)                                                           \
    BOOST_PP_TUPLE_ELEM(0, call)                                                                     \
    (BOOST_PP_TUPLE_ELEM(1, call),                                                                   \
     BOOST_PP_STRINGIZE(SVC_CARD_NAME_OF field), BOOST_PP_TUPLE_ELEM(2, call).SVC_CARD_NAME_OF field \
    );

/// `patch.name.apply_to(card.name);` for each.
#define SVC_APPLY_CARD_PATCHES(patch, card) \
    BOOST_PP_SEQ_FOR_EACH(SVC_APPLY_CARD_PATCH, (patch, card), SVC_CARD_FIELDS)
#define SVC_APPLY_CARD_PATCH(r, sides, field)                      \
    BOOST_PP_TUPLE_ELEM(0, sides).SVC_CARD_NAME_OF field.apply_to( \
        BOOST_PP_TUPLE_ELEM(1, sides).SVC_CARD_NAME_OF field       \
    );

// ---------------------------------------------------------------------------------- parts of SQL

/// `, of.name` for each, and the arguments that go with parameters.
#define SVC_CARD_COLUMNS(of) BOOST_PP_SEQ_FOR_EACH(SVC_CARD_COLUMN, of, SVC_CARD_FIELDS)
#define SVC_CARD_COLUMN(r, of, field) ", " of BOOST_PP_STRINGIZE(SVC_CARD_NAME_OF field)
#define SVC_CARD_ARGUMENTS(of) BOOST_PP_SEQ_FOR_EACH(SVC_CARD_ARGUMENT, of, SVC_CARD_FIELDS)
#define SVC_CARD_ARGUMENT(r, of, field) , of.SVC_CARD_NAME_OF field

/// `, name = $first, …`.
#define SVC_CARD_ASSIGNMENTS(first) \
    BOOST_PP_SEQ_FOR_EACH_I(SVC_CARD_ASSIGNMENT, first, SVC_CARD_FIELDS)
#define SVC_CARD_ASSIGNMENT(r, first, n, field) \
    ", " BOOST_PP_STRINGIZE(SVC_CARD_NAME_OF field) " = $" BOOST_PP_STRINGIZE(BOOST_PP_ADD(first, n))

/// `, ($first)[at], …` of arrays. Each parameter has its column's type, whatever that is, for
/// PostgreSQL takes it from the branch beside it, which is never taken.
#define SVC_CARD_ELEMENTS(first, at) \
    BOOST_PP_SEQ_FOR_EACH_I(SVC_CARD_ELEMENT, (first, at), SVC_CARD_FIELDS)
#define SVC_CARD_ELEMENT(r, place, n, field)                                             \
    ", (CASE WHEN false THEN ARRAY(SELECT c." BOOST_PP_STRINGIZE(SVC_CARD_NAME_OF field) \
    " FROM cards c WHERE c.org_id = $1) ELSE $"                                          \
    BOOST_PP_STRINGIZE(BOOST_PP_ADD(BOOST_PP_TUPLE_ELEM(0, place), n)) " END)["          \
    BOOST_PP_TUPLE_ELEM(1, place) "]"

/// `, 'name', of.name` for each.
#define SVC_CARD_PAIRS(of) BOOST_PP_SEQ_FOR_EACH(SVC_CARD_PAIR, of, SVC_CARD_FIELDS)
#define SVC_CARD_PAIR(r, of, field) \
    ", '" BOOST_PP_STRINGIZE(SVC_CARD_NAME_OF field) "', " of BOOST_PP_STRINGIZE(SVC_CARD_NAME_OF field)

#define SVC_CARD_NAME_OF(name, ...) name
#define SVC_CARD_TYPE_OF(name, type, ...) type
#define SVC_CARD_RULES_OF(name, type, ...) __VA_ARGS__

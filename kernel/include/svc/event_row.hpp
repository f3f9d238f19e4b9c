#pragma once

#include <boost/preprocessor/arithmetic/add.hpp>
#include <boost/preprocessor/arithmetic/dec.hpp>
#include <boost/preprocessor/stringize.hpp>

/// Events that are written by the statement that makes the change.
///
/// Where a change is one statement, its event is a row that the same statement inserts. Its
/// parameters are made by Call::event_row() and stand side by side, 29 from $`first` on; they
/// say what is known before. What the statement finds out is marked in the event's JSON
/// (created_with_gaps) and filled in by SVC_FILL. The workspace is $1.
///
/// Where a statement makes several changes, the parameters are arrays (svc/param_table.hpp), with
/// an event at each place, and the macros for that end in _AT.

#define SVC_EVENT_PART(first, number) \
    "$" BOOST_PP_STRINGIZE(BOOST_PP_DEC(BOOST_PP_ADD(first, number)))
/// Of these the statement may know better.
#define SVC_EVENT_ENTRY(first) SVC_EVENT_PART(first, 1) "::uuid"
#define SVC_EVENT_OBJECT(first) SVC_EVENT_PART(first, 4) "::uuid"
#define SVC_EVENT_VERSION(first) SVC_EVENT_PART(first, 6) "::bigint"
#define SVC_EVENT_CARD(first) SVC_EVENT_PART(first, 9) "::uuid"
#define SVC_EVENT_CHANGES(first) SVC_EVENT_PART(first, 11) "::text"
#define SVC_EVENT_REQUEST(first) SVC_EVENT_PART(first, 29) "::uuid"

#define SVC_EVENT_PART_AT(first, number, type, at) \
    "(" SVC_EVENT_PART(first, number) "::" type "[])[" at "]"
#define SVC_EVENT_CHANGES_AT(first, at) SVC_EVENT_PART_AT(first, 11, "text", at)

/// `text` with what is marked as `name` in it replaced by `value`, a text.
#define SVC_FILL(text, name, value) "replace(" text ", E'\\001" name "\\001', " value ")"
/// A time as JSON says it, without the quotes. Sessions keep UTC.
#define SVC_TIME_TEXT(time) "to_char(" time ", 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

#define SVC_EVENT_COLUMNS                                                                       \
    "INSERT INTO event_log (org_id, entry_id, kind, outcome, object, object_id, object_name, "  \
    "version, board_id, column_id, card_id, parent_id, changes, previous, truncated, "          \
    "moved_from, moved_to, subject, action, actor_type, actor_id, actor_name, actor_token_id, " \
    "on_behalf_of_user_id, via, mutation_id, cause, depth, client_address, user_agent, "        \
    "request_id) "

/// Inserts the event for each row of `from`. The arguments between are those above, or what the
/// statement knows.
#define SVC_INSERT_EVENTS(first, entry_id, object_id, version, card_id, changes, request_id, from) \
    SVC_EVENT_COLUMNS                                                                             \
    "SELECT $1, " entry_id ", "                                                                   \
    SVC_EVENT_PART(first, 2) ", 'success', " SVC_EVENT_PART(first, 3) ", " object_id ", "         \
    SVC_EVENT_PART(first, 5) ", " version ", " SVC_EVENT_PART(first, 7) "::uuid, "                \
    SVC_EVENT_PART(first, 8) "::uuid, " card_id ", " SVC_EVENT_PART(first, 10) "::uuid, "         \
    changes ", " SVC_EVENT_PART(first, 12) ", " SVC_EVENT_PART(first, 13) ", "                    \
    SVC_EVENT_PART(first, 14) ", " SVC_EVENT_PART(first, 15) ", " SVC_EVENT_PART(first, 16) ", "  \
    SVC_EVENT_PART(first, 17) ", " SVC_EVENT_PART(first, 18) ", "                                 \
    SVC_EVENT_PART(first, 19) "::uuid, " SVC_EVENT_PART(first, 20) ", "                           \
    SVC_EVENT_PART(first, 21) "::uuid, " SVC_EVENT_PART(first, 22) "::uuid, "                     \
    SVC_EVENT_PART(first, 23) ", " SVC_EVENT_PART(first, 24) "::uuid, "                           \
    SVC_EVENT_PART(first, 25) ", " SVC_EVENT_PART(first, 26) "::integer, "                        \
    SVC_EVENT_PART(first, 27) ", " SVC_EVENT_PART(first, 28) ", " request_id " FROM " from
/// The same for one row.
#define SVC_INSERT_EVENT(first, object_id, version, card_id, changes, from) \
    SVC_INSERT_EVENTS(                                                      \
        first,                                                              \
        SVC_EVENT_ENTRY(first),                                             \
        object_id,                                                          \
        version,                                                            \
        card_id,                                                            \
        changes,                                                            \
        SVC_EVENT_REQUEST(first),                                           \
        from                                                                \
    )
/// For each row of `from` the event at its place `at`, in their order.
#define SVC_INSERT_EVENTS_AT(first, at, changes, from)                                            \
    SVC_EVENT_COLUMNS                                                                             \
    "SELECT $1, " SVC_EVENT_PART_AT(first, 1, "uuid", at) ", "                                    \
    SVC_EVENT_PART_AT(first, 2, "text", at) ", 'success', "                                       \
    SVC_EVENT_PART_AT(first, 3, "text", at) ", "                                                  \
    SVC_EVENT_PART_AT(first, 4, "uuid", at) ", " SVC_EVENT_PART_AT(first, 5, "text", at) ", "     \
    SVC_EVENT_PART_AT(first, 6, "bigint", at) ", " SVC_EVENT_PART_AT(first, 7, "uuid", at) ", "   \
    SVC_EVENT_PART_AT(first, 8, "uuid", at) ", " SVC_EVENT_PART_AT(first, 9, "uuid", at) ", "     \
    SVC_EVENT_PART_AT(first, 10, "uuid", at) ", " changes ", "                                    \
    SVC_EVENT_PART_AT(first, 12, "text", at) ", " SVC_EVENT_PART_AT(first, 13, "text", at) ", "   \
    SVC_EVENT_PART_AT(first, 14, "text", at) ", " SVC_EVENT_PART_AT(first, 15, "text", at) ", "   \
    SVC_EVENT_PART_AT(first, 16, "text", at) ", " SVC_EVENT_PART_AT(first, 17, "text", at) ", "   \
    SVC_EVENT_PART_AT(first, 18, "text", at) ", " SVC_EVENT_PART_AT(first, 19, "uuid", at) ", "   \
    SVC_EVENT_PART_AT(first, 20, "text", at) ", " SVC_EVENT_PART_AT(first, 21, "uuid", at) ", "   \
    SVC_EVENT_PART_AT(first, 22, "uuid", at) ", " SVC_EVENT_PART_AT(first, 23, "text", at) ", "   \
    SVC_EVENT_PART_AT(first, 24, "uuid", at) ", " SVC_EVENT_PART_AT(first, 25, "text", at) ", "   \
    SVC_EVENT_PART_AT(first, 26, "integer", at) ", "                                              \
    SVC_EVENT_PART_AT(first, 27, "text", at) ", " SVC_EVENT_PART_AT(first, 28, "text", at) ", "   \
    SVC_EVENT_PART_AT(first, 29, "uuid", at) " FROM " from

#pragma once

#include "svc/as_json.hpp"
#include "svc/types.hpp"

/// What a board defines for its cards: labels and properties (contract 6.17).
namespace svc::boards {

enum class Color { default_, gray, brown, orange, yellow, green, blue, purple, pink, red };
BOOST_DESCRIBE_ENUM(Color, default_, gray, brown, orange, yellow, green, blue, purple, pink, red)

struct Label {
    Object<"label"> object;
    Uuid id;
    Uuid board_id;
    std::string name;
    Color color{};
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Label,
    (object),
    (id),
    (board_id),
    (name, "Unique on the board, whatever the case."),
    (color, "How people see it."),
    (version)
);

/// A label as cards show it.
struct LabelRef {
    Uuid id;
    std::string name;
    Color color{};
    bool operator==(const LabelRef&) const = default;
};
SVC_SHARED_RECORD(LabelRef, (id), (name, "What people call it."), (color, "How people see it."));

enum class PropertyType {
    rich_text,
    number,
    select,
    multi_select,
    status,
    people,
    date,
    checkbox,
    url,
    email,
    phone_number,
    relation,
    files,
    unique_id,
    created_time,
    created_by,
    last_edited_time,
    last_edited_by,
};
BOOST_DESCRIBE_ENUM(
    PropertyType,
    rich_text,
    number,
    select,
    multi_select,
    status,
    people,
    date,
    checkbox,
    url,
    email,
    phone_number,
    relation,
    files,
    unique_id,
    created_time,
    created_by,
    last_edited_time,
    last_edited_by
)

/// Its values are taken from a list of options.
constexpr bool has_options(PropertyType type) {
    return type == PropertyType::select || type == PropertyType::multi_select ||
           type == PropertyType::status;
}
/// Its values follow from the card; nobody sets them.
constexpr bool is_computed(PropertyType type) { return type >= PropertyType::unique_id; }

enum class NumberFormat { number, number_with_commas, percent, dollar, euro, pound, yen, hours };
BOOST_DESCRIBE_ENUM(
    NumberFormat, number, number_with_commas, percent, dollar, euro, pound, yen, hours
)

struct PropertyOption {
    Uuid id;
    std::string name;
    Color color{};
    bool operator==(const PropertyOption&) const = default;
};
SVC_SHARED_RECORD(
    PropertyOption,
    (id, "Stays when the option is renamed."),
    (name, "Unique in the property, whatever the case."),
    (color, "How people see it.")
);

struct PropertyDefinition {
    Object<"property"> object;
    Uuid id;
    Uuid board_id;
    std::string name;
    PropertyType type{};
    AsJson<std::vector<PropertyOption>> options;
    std::optional<NumberFormat> number_format;
    bool required = false;
    std::int64_t position = 0;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    PropertyDefinition,
    (object),
    (id),
    (board_id),
    (name, "Unique on the board, whatever the case."),
    (type,
     "What sort of values it takes; those of `unique_id`, `created_*` and `last_edited_*` follow "
     "from the card."),
    (options, "The choices of select, multi_select and status, in the order people see them."),
    (number_format, "How people see the numbers; for properties of type `number`."),
    (required, "Cards are not made without a value of it, and no edit clears it."),
    (position, "Its rank among the board's properties, beginning with 0."),
    (version)
);

}  // namespace svc::boards

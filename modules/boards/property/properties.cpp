// Properties of a board: adding one.

#include "modules/boards/property/properties.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/operations.hpp"

#include <set>

namespace svc::boards {

// ------------------------------------------------------------------------------------ options

namespace {

// Without regard to case, in any script.
constexpr Sql fold_names{"boards.fold_names", R"(
    SELECT lower(w.name COLLATE "und-x-icu") AS key
    FROM unnest($1::text[]) WITH ORDINALITY w (name, n)
    ORDER BY w.n)"};

}  // namespace

OptionResolver::OptionResolver(Call& call, std::optional<std::vector<RequestedOption>> wanted)
    : call_(call), wanted_(std::move(wanted)) {
    if (!wanted_) return;
    std::vector<std::string> names;
    for (const RequestedOption& each : *wanted_) names.push_back(each.name);
    keys_ = call.tx().later<NameKey>(fold_names, names);
}

std::vector<PropertyOption> OptionResolver::in_place_of(const std::vector<PropertyOption>& present
) {
    std::vector<PropertyOption> options;
    std::set<std::string> keys;
    std::set<Uuid> ids;
    const auto folded = keys_->all();
    for (std::size_t i = 0; i < wanted_->size(); ++i) {
        const RequestedOption& each = (*wanted_)[i];
        const auto known = std::ranges::find_if(present, [&](const PropertyOption& option) {
            return each.id == option.id;
        });
        const bool is_new = known == present.end();
        if (each.id && is_new)
            throw wrong_item(call_, "options", i, "the property has no option of this id");
        const PropertyOption before = is_new ? PropertyOption{new_uuid(), {}, {}} : *known;
        if (!ids.insert(before.id).second)
            throw wrong_item(call_, "options", i, "the option is given twice");
        if (!keys.insert(folded.at(i).key).second)
            throw wrong_item(call_, "options", i, "another option has this name");
        options.push_back({before.id, each.name, each.color.value_or(before.color)});
    }
    return options;
}

void require_consistent(const Call& call, const PropertyDefinition& property) {
    const std::string type(name_of(property.type));
    if (!has_options(property.type) && !property.options.parsed().empty())
        throw wrong_field(call, "options", "properties of type " + type + " have no options");
    if (property.type != PropertyType::number && property.number_format)
        throw wrong_field(call, "number_format", "only properties of type number have one");
    if (is_computed(property.type) && property.required)
        throw wrong_field(call, "required", "nobody sets the values of type " + type);
}

// ----------------------------------------------------------------------------- what there is

namespace {

constexpr Sql find_properties{"boards.find_properties", R"(
    SELECT p.id, p.board_id, p.name, p.type, p.options, p.number_format, p.required, p.position,
        p.version,
        coalesce(p.name_key = lower($3::text COLLATE "und-x-icu"), false) AS same_name
    FROM properties p
    WHERE p.org_id = $1 AND p.board_id = $2
    ORDER BY p.position, p.id)"};

constexpr Sql shift_ranks{"boards.shift_properties", R"(
    UPDATE properties SET position = position + $4
    WHERE org_id = $1 AND board_id = $2 AND position >= $3)"};

}  // namespace

DeferredRows<PropertyAccess> see_properties(
    Tx& tx, const Uuid& org, const Uuid& board, const std::optional<std::string>& name
) {
    return tx.later<PropertyAccess>(find_properties, org, board, name);
}

void require_free_name(const std::vector<PropertyAccess>& all, const Uuid& self) {
    const auto conflict = std::ranges::find_if(all, [&](const PropertyAccess& each) {
        return each.same_name && each.property.id != self;
    });
    if (conflict == all.end()) return;
    throw Failure(Fault::conflict, "The board has a property of this name.")
        .with("reason", "name_taken");
}

void require_room_for_options(
    const Call& call, const std::vector<PropertyAccess>& all, const PropertyDefinition& property
) {
    const std::size_t wanted = property.options.text.size();
    std::size_t replaced = 0, bytes = wanted;
    for (const auto& [each, same_name] : all)
        (each.id == property.id ? replaced : bytes) += each.options.text.size();
    // Where there is too much already it may become less.
    if (bytes > most_option_bytes && wanted > replaced)
        throw wrong_field(
            call, "options", "the options of a board's properties take at most 512 KiB together"
        );
}

void shift_properties(Tx& tx, const Uuid& org, const Uuid& board, std::int64_t from, Shift shift) {
    tx.queue(shift_ranks, org, board, from, shift == Shift::up ? 1 : -1);
}

// --------------------------------------------------------------------------------- making one

namespace {

struct CreatePropertyRequest {
    Uuid board_id;
    std::string name;
    PropertyType type{};
    std::optional<std::vector<RequestedOption>> options;
    std::optional<NumberFormat> number_format;
    bool required = false;
    std::optional<std::int64_t> position;
};
SVC_RECORD(
    CreatePropertyRequest,
    (board_id),
    (name, "Unique on the board, whatever the case.", length(1, 100), trimmed),
    (type, "What sort of values it takes; it stays so."),
    (options, "The choices of select, multi_select and status.", length(0, 100)),
    (number_format, "How people see the numbers; for the type `number` alone."),
    (required, "Cards are not made without a value of it, and no edit clears it.", defaulted),
    (position, "Its rank among the board's properties; the last if left out.", range(0, 100))
);

constexpr Sql insert_property{"boards.insert_property", R"(
    INSERT INTO properties (
        org_id, board_id, id, name, name_key, type, options, number_format, required, position)
    VALUES ($1, $2, $3, $4, lower($4 COLLATE "und-x-icu"), $5, $6, $7, $8, $9))"};

/// What was copied from another property may name that one's options.
std::optional<std::vector<RequestedOption>> without_ids(
    std::optional<std::vector<RequestedOption>> options
) {
    if (options)
        for (RequestedOption& each : *options) each.id.reset();
    return options;
}

PropertyDefinition property_from(
    const Call& call, const CreatePropertyRequest& in, OptionResolver& options, std::size_t present
) {
    PropertyDefinition property;
    property.id = new_uuid();
    property.board_id = in.board_id;
    property.name = in.name;
    property.type = in.type;
    property.options =
        AsJson(options.given() ? options.in_place_of({}) : std::vector<PropertyOption>{});
    property.number_format = in.number_format;
    property.required = in.required;
    const auto last = static_cast<std::int64_t>(present);
    property.position = std::min(in.position.value_or(last), last);
    require_consistent(call, property);
    return property;
}

PropertyDefinition create(Call& call, const CreatePropertyRequest& in) {
    Tx& tx = call.tx();
    lock_definitions(call, in.board_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto found = see_properties(tx, call.org(), in.board_id, in.name);
    OptionResolver options(call, without_ids(in.options));
    require_changeable(seen.one(), BoardRole::editor);
    const auto present = found.all();
    require_free_name(present, {});
    if (static_cast<std::int64_t>(present.size()) >= most_properties)
        throw wrong_field(call, "board_id", "a board has at most 100 properties");
    const PropertyDefinition property = property_from(call, in, options, present.size());
    require_room_for_options(call, present, property);

    const Event made = created(property_created, property).on_board(in.board_id);
    call.check(made);
    shift_properties(tx, call.org(), in.board_id, property.position, Shift::up);
    tx.queue(
        insert_property,
        call.org(),
        in.board_id,
        property.id,
        property.name,
        property.type,
        property.options.text,
        property.number_format,
        property.required,
        property.position
    );
    call.emit(made);
    return property;
}

}  // namespace

const Operation create_property{
    .name = "create_property",
    .route = "POST /v1/boards/{board_id}/properties",
    .summary = "Add a property to a board.",
    .description =
        "Gives the board's cards another sort of value besides the usual ones. The type is for "
        "good; a property that is copied from another one may bring its options' ids, which are "
        "replaced by new ones. A board has at most 100, with 512 KiB of options together.",
    .access = Access::board_editor,
    .status = 201,
    .handler = create,
};

}  // namespace svc::boards

// Properties of a board: changing and removing them, and the cards that show them.

#include "modules/boards/api/events.hpp"
#include "modules/boards/card/rewrites.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/property/properties.hpp"

namespace svc::boards {

namespace {

constexpr Sql write_property{"boards.update_property", R"(
    UPDATE properties
    SET name = $4, name_key = lower($4 COLLATE "und-x-icu"), options = $5, number_format = $6,
        required = $7, position = $8, version = version + 1
    WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

constexpr Sql drop_property{"boards.delete_property", R"(
    DELETE FROM properties WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

const PropertyDefinition& find(const std::vector<PropertyAccess>& all, const Uuid& id) {
    const auto found = std::ranges::find_if(all, [&](const PropertyAccess& each) {
        return each.property.id == id;
    });
    if (found == all.end()) not_found("property");
    return found->property;
}

// ------------------------------------------------------------------------------ changing one

struct UpdatePropertyRequest {
    Uuid board_id;
    Uuid property_id;
    Patch<std::string> name;
    Patch<PropertyType> type;
    Patch<std::vector<RequestedOption>> options;
    Patch<std::optional<NumberFormat>> number_format;
    Patch<bool> required;
    Patch<std::int64_t> position;
};
SVC_RECORD(
    UpdatePropertyRequest,
    (board_id),
    (property_id),
    (name, "Unique on the board, whatever the case.", length(1, 100), trimmed),
    (type, "Only the one it has: values of one sort make no sense in another."),
    (options,
     "All options in their order, each with its id if it is there already. Cards lose the ones "
     "that are left out.",
     length(0, 100)),
    (number_format, "How people see the numbers; null: as they are."),
    (required, "Cards are not made without a value of it, and no edit clears it."),
    (position, "Its rank among the board's properties.", range(0, 100))
);

PropertyDefinition changed_by(
    const Call& call,
    const UpdatePropertyRequest& in,
    OptionResolver& options,
    PropertyDefinition property,
    std::size_t present
) {
    if (in.type.given() && in.type.value() != property.type)
        throw wrong_field(
            call,
            "type",
            "a property keeps its type, which is " + std::string(name_of(property.type))
        );
    in.name.apply_to(property.name);
    in.number_format.apply_to(property.number_format);
    in.required.apply_to(property.required);
    in.position.apply_to(property.position);
    property.position = std::min(property.position, static_cast<std::int64_t>(present) - 1);
    if (options.given()) property.options = AsJson(options.in_place_of(property.options.parsed()));
    require_consistent(call, property);
    return property;
}

void store(Call& call, const PropertyDefinition& before, const PropertyDefinition& after) {
    Tx& tx = call.tx();
    if (after.position != before.position) {
        shift_properties(tx, call.org(), after.board_id, before.position + 1, Shift::down);
        shift_properties(tx, call.org(), after.board_id, after.position, Shift::up);
    }
    tx.queue(
        write_property,
        call.org(),
        after.board_id,
        after.id,
        after.name,
        after.options.text,
        after.number_format,
        after.required,
        after.position
    );
}

PropertyDefinition update(Call& call, const UpdatePropertyRequest& in) {
    Tx& tx = call.tx();
    std::optional<NewestCards> cards;
    if (in.name.given() || in.options.given()) cards.emplace(call, in.board_id);
    lock_definitions(call, in.board_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto found = see_properties(tx, call.org(), in.board_id, if_given(in.name));
    OptionResolver options(call, if_given(in.options));
    require_changeable(seen.one(), BoardRole::editor);
    const auto all = found.all();
    const PropertyDefinition& before = find(all, in.property_id);
    call.require_version(before.version);
    PropertyDefinition after = changed_by(call, in, options, before, all.size());
    if (to_json(after) == to_json(before)) return after;
    require_free_name(all, before.id);
    require_room_for_options(call, all, after);

    after.version = before.version + 1;
    const Event event = changed(property_updated, before, after).on_board(in.board_id);
    call.check(event);
    store(call, before, after);
    if (after.name != before.name || after.options.parsed() != before.options.parsed())
        cards->follow();
    call.emit(event);
    return after;
}

// ------------------------------------------------------------------------------ removing one

struct PropertyId {
    Uuid board_id;
    Uuid property_id;
};
SVC_RECORD(PropertyId, (board_id), (property_id));

void remove(Call& call, const PropertyId& in) {
    Tx& tx = call.tx();
    NewestCards cards(call, in.board_id);
    lock_definitions(call, in.board_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto found = see_properties(tx, call.org(), in.board_id, std::nullopt);
    require_changeable(seen.one(), BoardRole::editor);
    const auto all = found.all();
    const PropertyDefinition& property = find(all, in.property_id);
    call.require_version(property.version);

    const Event event = removed(property_deleted, property).on_board(in.board_id);
    call.check(event);
    tx.queue(drop_property, call.org(), in.board_id, property.id);
    shift_properties(tx, call.org(), in.board_id, property.position + 1, Shift::down);
    cards.follow();
    call.emit(event);
}

}  // namespace

const Operation update_property{
    .name = "update_property",
    .route = "PATCH /v1/boards/{board_id}/properties/{property_id}",
    .summary = "Change a property of a board: its name, options, format or place.",
    .description =
        "Changes only the fields that are sent; `options` replaces the whole list. The board's 250 "
        "newest cards show the new names and colors, and lose the options that are gone, at once; "
        "older ones follow within moments. That emits `property.updated` alone, not an event of "
        "each card, and leaves the cards' versions as they are.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

const Operation delete_property{
    .name = "delete_property",
    .route = "DELETE /v1/boards/{board_id}/properties/{property_id}",
    .summary = "Remove a property from a board, and its values from the cards.",
    .description = "The board's 250 newest cards lose them at once, older ones within moments.",
    .access = Access::board_editor,
    .status = 204,
    .destructive = true,
    .versioned = true,
    .handler = remove,
};

void add_properties(Kernel& kernel) {
    for (const EventKind* each : {&property_created, &property_updated, &property_deleted})
        kernel.add(*each);
    for (const Operation* each : {&create_property, &update_property, &delete_property})
        kernel.add(*each);
}

}  // namespace svc::boards

// Properties of a board: changing and removing them, and the cards that show them.

#include "modules/boards/operations.hpp"
#include "modules/boards/properties.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view show_it = R"( c.properties ? (
            SELECT name FROM properties WHERE org_id = $1 AND board_id = $5 AND id = $6)
            AND)";
constexpr Sql lock_showing_cards{
    "boards.lock_cards_with_property",
    SqlText<cards_that, show_it, if_editor, in_their_order>::view};

constexpr Sql rename_on_cards{"boards.rename_property_on_cards", R"(
    UPDATE cards
    SET properties = (properties - $3::text)
        || jsonb_build_object($4::text, properties -> $3::text)
    WHERE org_id = $1 AND board_id = $2 AND properties ? $3::text)"};

constexpr Sql drop_from_cards{"boards.drop_property_from_cards", R"(
    UPDATE cards SET properties = properties - $3::text
    WHERE org_id = $1 AND board_id = $2 AND properties ? $3::text
    RETURNING id)"};

struct EmptiedCard {
    Uuid id;
};
SVC_RECORD(EmptiedCard, (id, ""));

/// Of the property; files among its values hang there no more.
void drop_values(Call& call, const PropertyDefinition& property) {
    auto emptied =
        call.tx().later<EmptiedCard>(drop_from_cards, call.org(), property.board_id, property.name);
    if (property.type != PropertyType::files) return;
    std::vector<Uuid> cards;
    for (const EmptiedCard& each : emptied.all()) cards.push_back(each.id);
    follow_files(call, cards);
}

// A value whose option is gone goes with it.
constexpr Sql restyle_on_cards{"boards.restyle_option_on_cards", R"(
    UPDATE cards
    SET properties = coalesce(
        jsonb_set(properties, ARRAY[$3::text, $4], (
            SELECT o.option FROM jsonb_array_elements($5::jsonb) o (option)
            WHERE o.option ->> 'id' = properties #>> ARRAY[$3, $4, 'id'])),
        properties - $3)
    WHERE org_id = $1 AND board_id = $2 AND properties ? $3
        AND NOT EXISTS (
            SELECT FROM jsonb_array_elements($5::jsonb) o (option)
            WHERE o.option = properties #> ARRAY[$3, $4]))"};

// So does a list of which nothing is left.
constexpr Sql restyle_lists_on_cards{"boards.restyle_options_on_cards", R"(
    UPDATE cards
    SET properties = coalesce(
        jsonb_set(properties, ARRAY[$3::text, $4], (
            SELECT jsonb_agg(o.option ORDER BY v.n)
            FROM jsonb_path_query(properties #> ARRAY[$3, $4], '$[*]')
                WITH ORDINALITY v (was, n)
            JOIN jsonb_array_elements($5::jsonb) o (option)
                ON o.option ->> 'id' = v.was ->> 'id')),
        properties - $3)
    WHERE org_id = $1 AND board_id = $2 AND properties ? $3
        AND EXISTS (
            SELECT FROM jsonb_path_query(properties #> ARRAY[$3, $4], '$[*]') v (was)
            WHERE NOT EXISTS (
                SELECT FROM jsonb_array_elements($5::jsonb) o (option)
                WHERE o.option = v.was)))"};

constexpr Sql write_property{"boards.update_property", R"(
    UPDATE properties
    SET name = $4, name_key = lower($4 COLLATE "und-x-icu"), options = $5, number_format = $6,
        required = $7, position = $8, version = version + 1
    WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

constexpr Sql drop_property{"boards.delete_property", R"(
    DELETE FROM properties WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

const PropertyDefinition& find(const std::vector<PropertySeen>& all, const Uuid& id) {
    const auto found =
        std::ranges::find_if(all, [&](const PropertySeen& each) { return each.property.id == id; });
    if (found == all.end()) not_found("property");
    return found->property;
}

// ------------------------------------------------------------------------------ changing one

struct UpdatePropertyRequest {
    Uuid board_id;
    Uuid property_id;
    Patch<std::string> name;
    Patch<PropertyType> type;
    Patch<std::vector<WantedOption>> options;
    Patch<std::optional<NumberFormat>> number_format;
    Patch<bool> required;
    Patch<std::int64_t> position;
};
SVC_RECORD(
    UpdatePropertyRequest,
    (board_id, ""),
    (property_id, ""),
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
    WantedOptions& options,
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

/// Queues what the cards show from now on; options first, while they are found by the old name.
void rewrite_cards(Call& call, const PropertyDefinition& before, const PropertyDefinition& after) {
    const Uuid& org = call.org();
    if (before.options.parsed() != after.options.parsed()) {
        const bool many = after.type == PropertyType::multi_select;
        call.tx().queue(
            many ? restyle_lists_on_cards : restyle_on_cards,
            org,
            after.board_id,
            before.name,
            after.type,
            after.options.text
        );
    }
    if (before.name != after.name)
        call.tx().queue(rename_on_cards, org, after.board_id, before.name, after.name);
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
    if (in.name.given() || in.options.given())
        Seat::of(call).queue(tx, lock_showing_cards, in.board_id, in.property_id);
    lock_definitions(call, in.board_id);
    auto seen = Seat::of(call).later<BoardSeen>(tx, see_board, in.board_id);
    auto found = see_properties(tx, call.org(), in.board_id, if_given(in.name));
    WantedOptions options(call, if_given(in.options));
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
    call.ask(event);
    rewrite_cards(call, before, after);
    store(call, before, after);
    call.tell(event);
    return after;
}

// ------------------------------------------------------------------------------ removing one

struct PropertyId {
    Uuid board_id;
    Uuid property_id;
};
SVC_RECORD(PropertyId, (board_id, ""), (property_id, ""));

void remove(Call& call, const PropertyId& in) {
    Tx& tx = call.tx();
    Seat::of(call).queue(tx, lock_showing_cards, in.board_id, in.property_id);
    lock_definitions(call, in.board_id);
    auto seen = Seat::of(call).later<BoardSeen>(tx, see_board, in.board_id);
    auto found = see_properties(tx, call.org(), in.board_id, std::nullopt);
    require_changeable(seen.one(), BoardRole::editor);
    const auto all = found.all();
    const PropertyDefinition& property = find(all, in.property_id);
    call.require_version(property.version);

    const Event event = removed(property_deleted, property).on_board(in.board_id);
    call.ask(event);
    drop_values(call, property);
    tx.queue(drop_property, call.org(), in.board_id, property.id);
    shift_properties(tx, call.org(), in.board_id, property.position + 1, Shift::down);
    call.tell(event);
}

}  // namespace

const Operation update_property{
    .name = "update_property",
    .route = "PATCH /v1/boards/{board_id}/properties/{property_id}",
    .summary = "Change a property of a board: its name, options, format or place.",
    .description =
        "Changes only the fields that are sent; `options` replaces the whole list. Cards show the "
        "new names and colors at once, and lose the options that are gone. That alone is told by "
        "`property.updated`, not by an event of each card, and leaves the cards' versions as they "
        "are.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

const Operation delete_property{
    .name = "delete_property",
    .route = "DELETE /v1/boards/{board_id}/properties/{property_id}",
    .summary = "Remove a property from a board, and its values from the cards.",
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

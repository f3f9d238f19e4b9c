// Values of a board's properties: finding what requests name, and joining it to what there is.

#include "modules/boards/property/values.hpp"
#include "modules/boards/api/events.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/property/value_reader.hpp"
#include "svc/json.hpp"

#include <set>

namespace svc::boards {

namespace {

// Two who name the same new option must not both make it: a property that lacks one of the names
// is locked, the others are not.
constexpr std::string_view growing_properties = R"(
    SELECT p.id FROM properties p
    WHERE p.org_id = $1
        AND p.board_id = (
            SELECT coalesce($5, (SELECT board_id FROM cards WHERE org_id = $1 AND id = $6)))
        AND p.type IN ('select', 'multi_select', 'status')
        AND EXISTS (
            SELECT FROM unnest($7::text[], $8::text[]) w (wanted, word)
            WHERE (p.id::text = w.wanted OR p.name_key = lower(w.wanted COLLATE "und-x-icu"))
                AND NOT EXISTS (
                    SELECT FROM jsonb_array_elements(p.options) o (option)
                    WHERE lower((o.option ->> 'name') COLLATE "und-x-icu")
                        = lower(w.word COLLATE "und-x-icu")))
        AND)";
constexpr std::string_view growing_in_order = "p.board_id) ORDER BY p.id FOR NO KEY UPDATE OF p";
constexpr Sql lock_growing{
    "boards.lock_growing_properties",
    SqlText<growing_properties, if_editor, growing_in_order>::view};

constexpr Sql find_properties{"boards.find_properties_of_values", R"(
    SELECT w.wanted, p.id, p.board_id, p.name, p.type, p.options, p.number_format, p.required,
        p.position, p.version
    FROM unnest($4::text[]) w (wanted)
    JOIN properties p
        ON p.org_id = $1
        AND p.board_id = (
            SELECT coalesce($2, (SELECT board_id FROM cards WHERE org_id = $1 AND id = $3)))
        AND (p.id::text = w.wanted OR p.name_key = lower(w.wanted COLLATE "und-x-icu"))
    ORDER BY p.id::text = w.wanted DESC)"};

constexpr Sql find_words{"boards.find_options_of_values", R"(
    SELECT p.id AS property_id, w.word, lower(w.word COLLATE "und-x-icu") AS folded, o.id
    FROM unnest($4::text[], $5::text[]) w (wanted, word)
    JOIN properties p
        ON p.org_id = $1
        AND p.board_id = (
            SELECT coalesce($2, (SELECT board_id FROM cards WHERE org_id = $1 AND id = $3)))
        AND p.type IN ('select', 'multi_select', 'status')
        AND (p.id::text = w.wanted OR p.name_key = lower(w.wanted COLLATE "und-x-icu"))
    LEFT JOIN LATERAL (
        SELECT (e.option ->> 'id')::uuid AS id FROM jsonb_array_elements(p.options) e (option)
        WHERE lower((e.option ->> 'name') COLLATE "und-x-icu")
            = lower(w.word COLLATE "und-x-icu")) o ON true)"};

// Whoever has left keeps a name and is not named anew.
constexpr Sql find_things{"boards.find_things_of_values", R"(
    SELECT 'person' AS sort, p.id, p.type AS principal_type, p.name, NULL AS key
    FROM principals p
    WHERE p.org_id = $1 AND p.id = ANY ($5::uuid[])
        AND (EXISTS (SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = p.id)
            OR EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = p.id))
    UNION ALL
    SELECT 'card', c.id, NULL, c.title, b.key || '-' || c.number
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE c.org_id = $1 AND c.id = ANY ($5::uuid[]) AND NOT c.in_trash
        AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
            IS NOT NULL
    UNION ALL
    SELECT 'card', c.id, NULL, c.title, b.key || '-' || c.number
    FROM unnest($6::text[], $7::text[]) w (key, number)
    JOIN boards b ON b.org_id = $1 AND b.key = w.key AND NOT b.in_trash
    JOIN cards c
        ON c.org_id = $1 AND c.board_id = b.id AND c.number = w.number::bigint AND NOT c.in_trash
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
        IS NOT NULL)"};

constexpr Sql write_options{"boards.add_options", R"(
    UPDATE properties SET options = $4, version = version + 1
    WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

/// All texts within values: ids on the one side, what may name an option on the other.
struct Mentions {
    std::vector<Uuid> ids{};
    std::vector<std::string> keys{}, words{};          // a word for the property of that key
    std::vector<std::string> board_keys{}, numbers{};  // of cards named by their keys

    void gather(const std::string& key, const json::value& value) {
        if (const auto* text = value.if_string()) {
            const auto card = CardRef::parse(*text);
            if (card && !card->id)
                board_keys.push_back(card->board_key),
                    numbers.push_back(std::to_string(card->number));
            if (const auto id = Uuid::parse(*text)) ids.push_back(*id);
            else if (const auto word = trimmed_word(*text); word.size() <= longest_word)
                keys.push_back(key), words.push_back(word);
        } else if (const auto* list = value.if_array()) {
            for (const json::value& each : *list) gather(key, each);
        } else if (const auto* object = value.if_object()) {
            for (const auto& [name, each] : *object)
                if (name != "color" && name != "type") gather(key, each);
        }
    }
};

bool is_list(PropertyType type) {
    return type == PropertyType::multi_select || type == PropertyType::people ||
           type == PropertyType::relation || type == PropertyType::files;
}

/// What is there already, and behind it what is not.
json::value joined_lists(const json::value& present, json::value more, PropertyType type) {
    const std::string_view member = name_of(type), id = id_member(type);
    json::value all = present;
    json::array& list = all.as_object()[member].as_array();
    for (json::value& each : more.as_object()[member].as_array()) {
        const auto same = [&](const json::value& other) { return other.at(id) == each.at(id); };
        if (std::ranges::none_of(list, same)) list.push_back(std::move(each));
    }
    return all;
}

}  // namespace

std::string_view id_member(PropertyType type) {
    return type == PropertyType::files ? "file_id" : "id";
}

std::size_t longest_list(PropertyType type) { return type == PropertyType::files ? 50 : 100; }

bool same_values(const PropertyValues& a, const PropertyValues& b) {
    return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
        return one.first == other.first &&
               parse_json(one.second.text) == parse_json(other.second.text);
    });
}

void require_values(
    const Call& call, const std::vector<std::string>& required, const PropertyValues& values
) {
    Reader reader;
    auto root = reader.at(root_of(call));
    auto field = reader.at("properties");
    for (const std::string& name : required) {
        if (values.contains(name)) continue;
        auto step = reader.at(std::string_view(name));
        reader.reject("missing", "This field is required");
    }
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
}

ValuesResolver::ValuesResolver(
    Call& call,
    const std::optional<PropertyInput>& wanted,
    const std::optional<Uuid>& board,
    const std::optional<Uuid>& card
)
    : call_(call), wanted_(wanted) {
    if (wanted_ && wanted_->empty()) wanted_.reset();
    if (!wanted_) return;
    std::vector<std::string> keys;
    Mentions mentions;
    for (const auto& [key, value] : *wanted_) {
        const auto id = Uuid::parse(key);
        keys.push_back(id ? id->str() : key);
        mentions.gather(keys.back(), parse_json(value.text));
    }
    Tx& tx = call.tx();
    const Uuid& org = call.org();
    if (!board) share_definitions_of(call, *card);
    if (!mentions.words.empty()) {
        BoardCaller::of(call).queue(tx, lock_growing, board, card, mentions.keys, mentions.words);
        words_ = tx.later<OptionWord>(find_words, org, board, card, mentions.keys, mentions.words);
    }
    properties_ = tx.later<PropertyFound>(find_properties, org, board, card, keys);
    if (mentions.ids.empty() && mentions.board_keys.empty()) return;
    if (auto* files = call.kernel().find<CardFiles>()) files_ = files->find(call, mentions.ids);
    things_ = BoardCaller::of(call).later<NamedThing>(
        tx, find_things, mentions.ids, mentions.board_keys, mentions.numbers
    );
}

Known ValuesResolver::read() {
    Known known;
    known.properties = properties_->all();
    if (words_)
        for (OptionWord& each : words_->all())
            known.words.insert_or_assign({each.property_id, each.word}, each);
    if (things_)
        for (NamedThing& each : things_->all())
            known.things.insert_or_assign({each.sort, each.id}, each);
    known.keeps_files = call_.kernel().find<CardFiles>() != nullptr;
    if (files_)
        for (const CardFiles::Named& each : files_())
            known.things.insert_or_assign(
                {NamedSort::file, each.id},
                NamedThing{NamedSort::file, each.id, std::nullopt, each.name}
            );
    return known;
}

PropertyValues ValuesResolver::in_place_of(PropertyValues present, Lists lists) {
    const Known known = read();
    // What is longer already may become shorter bit by bit.
    const std::size_t most = std::max(most_value_bytes, AsJson(present).text.size());
    Reader reader;
    auto root = reader.at(root_of(call_));
    auto field = reader.at("properties");
    std::set<Uuid> named;
    for (const auto& [key, value] : *wanted_) {
        auto step = reader.at(std::string_view(key));
        const json::value in = parse_json(value.text);
        const auto id = Uuid::parse(key);
        const std::string wanted = id ? id->str() : key;
        const auto found = std::ranges::find(known.properties, wanted, &PropertyFound::wanted);
        if (found == known.properties.end())
            reader.reject("value_error", "The board has no such property", &in);
        else if (!named.insert(found->property.id).second)
            reader.reject("value_error", "The property is named twice", &in);
        else put(reader, known, found->property, in, lists, present);
    }
    if (reader.clean() && AsJson(present).text.size() > most)
        reader.reject(
            "value_error",
            "A card's values are at most " + std::to_string(most_value_bytes) + " bytes together"
        );
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
    return present;
}

void ValuesResolver::put(
    Reader& reader,
    const Known& known,
    const PropertyDefinition& property,
    const json::value& in,
    Lists lists,
    PropertyValues& values
) {
    const auto old = values.find(property.name);
    json::value present;
    if (old != values.end()) present = parse_json(old->second.text);
    const bool joins = lists == Lists::join && is_list(property.type);

    ValueReader value(reader, known, property, present);
    auto held = value.read(in);
    if (const PropertyDefinition after = value.property(); after.options != property.options)
        grown_.emplace_back(property, after);
    if (!reader.clean() || (!held && joins)) return;
    if (held && joins && old != values.end()) {
        held = joined_lists(present, std::move(*held), property.type);
        const std::size_t most = longest_list(property.type);
        if (held->at(name_of(property.type)).as_array().size() > most)
            reader.reject(
                "value_error", "Joined these would be more than " + std::to_string(most), &in
            );
    }
    if (!held && property.required)
        reader.reject("value_error", "The board's cards need a value of it", &in);
    if (held) Json<JsonText>::read(reader, {}, *held, values[property.name]);
    else values.erase(property.name);
}

void ValuesResolver::make_new_options() {
    for (auto& [before, after] : grown_) {
        after.version = before.version + 1;
        call_.tx().queue(write_options, call_.org(), after.board_id, after.id, after.options.text);
        call_.emit(changed(property_updated, before, after).on_board(after.board_id));
    }
}

}  // namespace svc::boards

#include "modules/boards/copied_values.hpp"

#include "svc/json.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc::boards {

namespace {

constexpr std::size_t length_of_id = 36;

/// The option as the property has it now; null when it is gone.
json::value option_of(const PropertyDefinition& property, const json::value& shown) {
    const auto* option = shown.if_object();
    const auto* text = option ? option->if_contains("id") : nullptr;
    const auto id =
        text && text->is_string() ? Uuid::parse(std::string_view(text->as_string())) : std::nullopt;
    for (const PropertyOption& each : property.options.parsed())
        if (id && each.id == *id) return parse_json(to_json(each));
    return nullptr;
}

/// False when nothing is left of the value.
bool put_options(const PropertyDefinition& property, json::value& value) {
    if (!has_options(property.type)) return true;
    json::value* held = value.as_object().if_contains(name_of(property.type));
    if (!held) return true;
    if (auto* list = held->if_array()) {
        json::array kept;
        for (const json::value& each : *list)
            if (json::value option = option_of(property, each); !option.is_null())
                kept.push_back(std::move(option));
        *list = std::move(kept);
        return !list->empty();
    }
    *held = option_of(property, *held);
    return !held->is_null();
}

}  // namespace

std::vector<LabelRef> copied_labels(
    const std::vector<LabelRef>& labels, const std::vector<Label>& board, const NewIds& ids
) {
    std::vector<LabelRef> copied;
    for (const LabelRef& each : labels) {
        const auto id = ids.find(each.id);
        const auto found = id ? std::ranges::find(board, *id, &Label::id) : board.end();
        if (found != board.end()) copied.push_back({found->id, found->name, found->color});
    }
    return copied;
}

PropertyValues copied_values(
    const PropertyValues& values, const std::vector<PropertyDefinition>& board, const NewIds& ids
) {
    PropertyValues copied;
    for (const auto& [name, shown] : values) {
        std::string text = shown.text;
        ids.put_into(text);
        json::value value = parse_json(text);
        const auto* member = value.is_object() ? value.as_object().if_contains("id") : nullptr;
        const auto id = member && member->is_string()
                            ? Uuid::parse(std::string_view(member->as_string()))
                            : std::nullopt;
        const auto found =
            id ? std::ranges::find(board, *id, &PropertyDefinition::id) : board.end();
        if (found == board.end() || !put_options(*found, value)) continue;
        copied[found->name] = JsonText{json::serialize(value)};
    }
    return copied;
}

void ids_in(std::string_view text, std::set<Uuid>& ids) {
    for (auto at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
        if (at + length_of_id + 1 >= text.size() || text[at + length_of_id + 1] != '"') continue;
        if (const auto id = Uuid::parse(text.substr(at + 1, length_of_id))) ids.insert(*id);
    }
}

std::optional<Uuid> id_of_json(std::string_view text) {
    if (text.size() != length_of_id + 2) return std::nullopt;
    return Uuid::parse(text.substr(1, length_of_id));
}

}  // namespace svc::boards

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

std::vector<LabelRef> as_defined(
    const std::vector<LabelRef>& labels, const std::vector<Label>& board
) {
    std::vector<LabelRef> defined;
    for (const LabelRef& each : labels) {
        const auto found = std::ranges::find(board, each.id, &Label::id);
        if (found != board.end()) defined.push_back({found->id, found->name, found->color});
    }
    return defined;
}

PropertyValues as_defined(
    const PropertyValues& values, const std::vector<PropertyDefinition>& board
) {
    PropertyValues defined;
    for (const auto& [name, shown] : values) {
        json::value value = parse_json(shown.text);
        const auto* member = value.is_object() ? value.as_object().if_contains("id") : nullptr;
        const auto id = member && member->is_string()
                            ? Uuid::parse(std::string_view(member->as_string()))
                            : std::nullopt;
        const auto found =
            id ? std::ranges::find(board, *id, &PropertyDefinition::id) : board.end();
        if (found == board.end()) continue;
        if (!has_options(found->type)) defined[found->name] = shown;
        else if (put_options(*found, value))
            defined[found->name] = JsonText{json::serialize(value)};
    }
    return defined;
}

std::vector<LabelRef> copied_labels(
    const std::vector<LabelRef>& labels, const std::vector<Label>& board, const NewIds& ids
) {
    std::vector<LabelRef> copied;
    for (LabelRef each : labels)
        if (const auto id = ids.find(each.id)) {
            each.id = *id;
            copied.push_back(std::move(each));
        }
    return as_defined(copied, board);
}

PropertyValues copied_values(
    const PropertyValues& values, const std::vector<PropertyDefinition>& board, const NewIds& ids
) {
    PropertyValues copied = values;
    for (auto& [name, shown] : copied) ids.put_into(shown.text);
    return as_defined(copied, board);
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

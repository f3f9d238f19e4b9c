#include "modules/boards/property/copied_values.hpp"
#include "modules/boards/api/definitions.hpp"

#include "svc/json.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc::boards {

namespace {

constexpr std::size_t length_of_id = 36;

/// Of an option, label or value as a card shows it.
std::optional<Uuid> id_of(const json::value& shown) {
    const auto* object = shown.if_object();
    const auto* text = object ? object->if_contains("id") : nullptr;
    return text && text->is_string() ? Uuid::parse(std::string_view(text->as_string()))
                                     : std::nullopt;
}

}  // namespace

DefinitionIndex::DefinitionIndex(
    const std::vector<Label>& labels, const std::vector<PropertyDefinition>& properties
) {
    for (const Label& each : labels) labels_[each.id] = {each.id, each.name, each.color};
    for (const PropertyDefinition& each : properties) {
        Property& property = properties_[each.id];
        property.name = each.name;
        property.type = each.type;
        for (const PropertyOption& option : each.options.parsed())
            property.options[option.id] = parse_json(to_json(option));
    }
}

std::vector<LabelRef> DefinitionIndex::as_defined(const std::vector<LabelRef>& labels) const {
    std::vector<LabelRef> defined;
    for (const LabelRef& each : labels)
        if (const auto found = labels_.find(each.id); found != labels_.end())
            defined.push_back(found->second);
    return defined;
}

/// False when nothing is left of the value.
bool DefinitionIndex::put_options(const Property& property, json::value& value) {
    json::value* held = value.as_object().if_contains(name_of(property.type));
    if (!held) return true;
    const auto find = [&](const json::value& shown) -> const json::value* {
        const auto id = id_of(shown);
        const auto found = id ? property.options.find(*id) : property.options.end();
        return found == property.options.end() ? nullptr : &found->second;
    };
    if (auto* list = held->if_array()) {
        json::array kept;
        for (const json::value& each : *list)
            if (const json::value* option = find(each)) kept.push_back(*option);
        *list = std::move(kept);
        return !list->empty();
    }
    const json::value* option = find(*held);
    if (option) *held = *option;
    return option != nullptr;
}

PropertyValues DefinitionIndex::as_defined(const PropertyValues& values) const {
    PropertyValues defined;
    for (const auto& [name, shown] : values) {
        json::value value = parse_json(shown.text);
        const auto id = id_of(value);
        const auto found = id ? properties_.find(*id) : properties_.end();
        if (found == properties_.end()) continue;
        const Property& property = found->second;
        if (!has_options(property.type)) defined[property.name] = shown;
        else if (put_options(property, value))
            defined[property.name] = JsonText{json::serialize(value)};
    }
    return defined;
}

std::vector<LabelRef> copied_labels(
    std::vector<LabelRef> labels, const DefinitionIndex& board, const NewIds& ids
) {
    for (LabelRef& each : labels) each.id = ids.find(each.id).value_or(Uuid());
    return board.as_defined(labels);
}

PropertyValues copied_values(
    PropertyValues values, const DefinitionIndex& board, const NewIds& ids
) {
    for (auto& [name, shown] : values) ids.put_into(shown.text);
    return board.as_defined(values);
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

#pragma once

#include "modules/boards/parts/new_ids.hpp"
#include "modules/boards/property_values.hpp"

#include <set>

/// What a card shows of its board's definitions, for a copy of it on another board that has copies
/// of these: in the words of that board, which may have changed since.
namespace svc::boards {

/// Those of `labels` that `board` still has, as it calls them.
std::vector<LabelRef> copied_labels(
    const std::vector<LabelRef>& labels, const std::vector<Label>& board, const NewIds& ids
);

/// Those of `values` whose properties `board` still has, and within them the options that it has.
PropertyValues copied_values(
    const PropertyValues& values, const std::vector<PropertyDefinition>& board, const NewIds& ids
);

/// Adds the ids that are whole strings of the JSON `text`.
void ids_in(std::string_view text, std::set<Uuid>& ids);

/// The id that the JSON string `text` is.
std::optional<Uuid> id_of_json(std::string_view text);

}  // namespace svc::boards

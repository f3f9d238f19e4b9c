#pragma once

#include "modules/boards/parts/new_ids.hpp"
#include "modules/boards/property_values.hpp"

#include <set>

/// What a card shows of its board's definitions, in the words that the board has for them now.
namespace svc::boards {

/// Those of `labels` that `board` still has, as it calls them.
std::vector<LabelRef> as_defined(
    const std::vector<LabelRef>& labels, const std::vector<Label>& board
);

/// Those of `values` whose properties `board` still has, and within them the options that it has.
PropertyValues as_defined(
    const PropertyValues& values, const std::vector<PropertyDefinition>& board
);

/// The same for a copy of the card on another board, which has copies of the definitions.
std::vector<LabelRef> copied_labels(
    const std::vector<LabelRef>& labels, const std::vector<Label>& board, const NewIds& ids
);

PropertyValues copied_values(
    const PropertyValues& values, const std::vector<PropertyDefinition>& board, const NewIds& ids
);

/// Adds the ids that are whole strings of the JSON `text`.
void ids_in(std::string_view text, std::set<Uuid>& ids);

/// The id that the JSON string `text` is.
std::optional<Uuid> id_of_json(std::string_view text);

}  // namespace svc::boards

#pragma once

#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/lib/new_ids.hpp"
#include "modules/boards/property/values.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <set>

/// What a card shows of its board's definitions, in the words that the board has for them now.
namespace svc::boards {

/// A board's definitions by id: made once for many cards.
class DefinitionIndex {
public:
    DefinitionIndex(
        const std::vector<Label>& labels, const std::vector<PropertyDefinition>& properties
    );
    /// Those that the board still has, as it calls them.
    std::vector<LabelRef> as_defined(const std::vector<LabelRef>& labels) const;
    /// Those whose properties the board still has, and within them the options that it has.
    PropertyValues as_defined(const PropertyValues& values) const;

private:
    struct Property {
        std::string name;
        PropertyType type;
        std::map<Uuid, boost::json::value> options;
    };
    static bool put_options(const Property& property, boost::json::value& value);

    std::map<Uuid, LabelRef> labels_;
    std::map<Uuid, Property> properties_;
};

/// The same for a copy of the card on another board, which has copies of the definitions.
std::vector<LabelRef> copied_labels(
    std::vector<LabelRef> labels, const DefinitionIndex& board, const NewIds& ids
);

PropertyValues copied_values(
    PropertyValues values, const DefinitionIndex& board, const NewIds& ids
);

/// Adds the ids that are whole strings of the JSON `text`.
void ids_in(std::string_view text, std::set<Uuid>& ids);

/// The id that the JSON string `text` is.
std::optional<Uuid> id_of_json(std::string_view text);

}  // namespace svc::boards

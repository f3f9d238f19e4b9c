#pragma once

#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/property/values.hpp"
#include "modules/lib/rich_text/rich_text.hpp"

#include <boost/json.hpp>

/// One value of a property, read by the rules of its type.
namespace svc::boards {

using rich_text::DateValue, rich_text::RichText, rich_text::ReferenceNames, rich_text::References;

inline constexpr std::size_t longest_word = 400;  // a hundred characters, in bytes

/// Without the white space around it.
std::string trimmed_word(std::string_view text);

class ValueReader {
public:
    /// `present` is the value that the card has now, as it shows it; null when it has none.
    ValueReader(
        Reader& reader,
        const Known& known,
        const PropertyDefinition& property,
        const json::value& present
    );

    /// The value as cards show it, `{id, type, <type>: value}`; nothing when it is empty. Problems
    /// are recorded at the reader's present place.
    std::optional<json::value> read(const json::value& in);
    /// With the options that what was read has added.
    PropertyDefinition property() const;

private:
    json::value read_bare(const json::value& in);
    json::value rich_text(const json::value& in);
    json::value rich_text_item(const json::value& in);
    json::value date(const json::value& in);
    json::value text(const json::value& in);
    json::value option(const json::value& in);
    json::value option_of_name(const json::value& in, const std::string& name);
    json::value person(const json::value& in);
    json::value card(const json::value& in);
    json::value file(const json::value& in);
    json::value list(const json::value& in, json::value (ValueReader::*item)(const json::value&));
    std::optional<Uuid> id_in(const json::value& in);
    /// The same of a card, which may be named by its key.
    std::optional<Uuid> card_in(const json::value& in);
    /// What the card's own list has of this id: it may stay, whoever has left meanwhile.
    const json::value* present_item(const Uuid& id) const;
    /// Whom and what rich text may mention; worked out once.
    const ReferenceNames& mentionable();
    json::value refuse(const json::value& in, std::string_view message);
    json::value refuse_person(const json::value& in);
    json::value refuse_card(const json::value& in);

    Reader& reader_;
    const Known& known_;
    const PropertyDefinition& property_;
    const json::value& present_;
    std::vector<PropertyOption> options_;
    std::map<std::string, Uuid> new_options_;  // by what names are compared by
    std::optional<ReferenceNames> mentionable_;
};

}  // namespace svc::boards

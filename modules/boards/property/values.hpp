#pragma once

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/definitions.hpp"

/// Values of a board's properties as requests name them, turned into what cards show.
namespace svc::boards {

/// Values of properties as requests give them: by id or name of the property.
using PropertyInput = std::map<std::string, JsonText>;

/// By the name of the property, each `{id, type, <type>: value}`.
using PropertyValues = std::map<std::string, JsonText>;

/// All values of a card together, as JSON: what whoever reads the card gets each time.
inline constexpr std::size_t most_value_bytes = 32 << 10;

/// Whether they say the same, however they are written down.
bool same_values(const PropertyValues& a, const PropertyValues& b);

/// The member that tells the items of such a list apart.
std::string_view id_member(PropertyType type);

/// How many items such a list has at most.
std::size_t longest_list(PropertyType type);

/// 422 where one of these is missing.
void require_values(
    const Call& call, const std::vector<std::string>& required, const PropertyValues& values
);

/// A property by the key that a request names it with.
struct PropertyFound {
    std::string wanted;
    PropertyDefinition property;
};
SVC_SHARED_RECORD(PropertyFound, (wanted), (property, "", flatten));

/// A text that may name an option of a property, and the option, if there is one.
struct OptionWord {
    Uuid property_id;
    std::string word;
    std::string folded;  ///< what names are compared by
    std::optional<Uuid> id;
};
SVC_SHARED_RECORD(OptionWord, (property_id), (word), (folded), (id));

/// Whom or what an id in a value names: somebody of the workspace, a card that the caller may see,
/// or a file that the caller may hang on a card.
enum class NamedSort { person, card, file };
BOOST_DESCRIBE_ENUM(NamedSort, person, card, file)
struct NamedThing {
    NamedSort sort{};
    Uuid id;
    std::optional<PrincipalType> principal_type;
    std::optional<std::string> name;
    std::optional<std::string> key;  ///< of a card
};
SVC_SHARED_RECORD(NamedThing, (sort), (id), (principal_type), (name), (key));

/// What the values of one request may name.
struct Known {
    std::vector<PropertyFound> properties{};
    std::map<std::pair<Uuid, std::string>, OptionWord> words{};  // by property
    std::map<std::pair<NamedSort, Uuid>, NamedThing> things{};
    bool keeps_files = false;  ///< this server does
};

/// Values by id or name of the property. Options that a property does not have yet are added to it.
class ValuesResolver {
public:
    /// Queues the look-ups, unless nobody said anything about properties. The board is the one
    /// given, its counter locked; or else the one that `card` is on, the card locked.
    ValuesResolver(
        Call& call,
        const std::optional<PropertyInput>& wanted,
        const std::optional<Uuid>& board,
        const std::optional<Uuid>& card
    );
    bool given() const { return wanted_.has_value(); }

    enum class Lists { replace, join };
    /// Reads; the values that a card has afterwards which has `present` now. Throws Failure 422.
    PropertyValues in_place_of(PropertyValues present, Lists lists);
    /// Queues the options that are new and emits changes of the properties that have them.
    void make_new_options();

private:
    Known read();
    void put(
        Reader& reader,
        const Known& known,
        const PropertyDefinition& property,
        const json::value& in,
        Lists lists,
        PropertyValues& values
    );

    Call& call_;
    std::optional<PropertyInput> wanted_;
    std::optional<DeferredRows<PropertyFound>> properties_;
    std::optional<DeferredRows<OptionWord>> words_;
    std::optional<DeferredRows<NamedThing>> things_;
    std::function<std::vector<CardFiles::Named>()> files_;
    std::vector<std::pair<PropertyDefinition, PropertyDefinition>> grown_;  // before and after
};

}  // namespace svc::boards

#pragma once

#include "modules/boards/api/definitions.hpp"
#include "modules/boards/statements.hpp"

/// Properties of boards: what changes one has in common with making one.
namespace svc::boards {

inline constexpr std::int64_t most_properties = 100;  // on a board
// Bytes, of the options of all its properties: whatever shows a board shows them.
inline constexpr std::size_t most_option_bytes = 512 << 10;

/// An option as a request gives it.
struct RequestedOption {
    std::optional<Uuid> id;
    std::string name;
    std::optional<Color> color;
};
SVC_SHARED_RECORD(
    RequestedOption,
    (id, "Id of an existing option; left out for a new one."),
    (name, "Unique in the property, whatever the case.", length(1, 100), trimmed),
    (color, "As people see it; an option that there was already keeps its own if left out.")
);

/// What a name is compared by.
struct NameKey {
    std::string key;
};
SVC_SHARED_RECORD(NameKey, (key));

/// Options as a request gives them, turned into those of a property.
class OptionResolver {
public:
    /// Queues the comparison of their names, unless nobody said anything about options.
    OptionResolver(Call& call, std::optional<std::vector<RequestedOption>> wanted);
    bool given() const { return wanted_.has_value(); }
    /// Reads; in place of `present`. Throws Failure 422 for an id that is not among those, and for
    /// a name that is given twice.
    std::vector<PropertyOption> in_place_of(const std::vector<PropertyOption>& present);

private:
    Call& call_;
    std::optional<std::vector<RequestedOption>> wanted_;
    std::optional<DeferredRows<NameKey>> keys_;
};

/// 422 where the type does not go with options, with a number format or with being required.
void require_consistent(const Call& call, const PropertyDefinition& property);

/// A property of the board, and whether it has the name that is asked for.
struct PropertyAccess {
    PropertyDefinition property;
    bool same_name = false;
};
SVC_SHARED_RECORD(PropertyAccess, (property, "", flatten), (same_name));

/// 422 when `property`, in place of itself among `all`, brings the board more options than it may
/// have.
void require_room_for_options(
    const Call& call, const std::vector<PropertyAccess>& all, const PropertyDefinition& property
);

/// All that the board has, in order; `name` is compared without regard to case.
DeferredRows<PropertyAccess> see_properties(
    Tx& tx, const Uuid& org, const Uuid& board, const std::optional<std::string>& name
);

/// 409 when one of `all` other than `self` has the name.
void require_free_name(const std::vector<PropertyAccess>& all, const Uuid& self);

/// Queues the shift by one of every rank from `from` on, to make or close a gap.
enum class Shift { up, down };
void shift_properties(Tx& tx, const Uuid& org, const Uuid& board, std::int64_t from, Shift shift);

}  // namespace svc::boards

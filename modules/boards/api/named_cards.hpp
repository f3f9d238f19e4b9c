#pragma once

#include "modules/boards/api/card_ref.hpp"
#include "svc/kernel.hpp"

#include <optional>
#include <vector>

/// Cards that callers name by id or key.
namespace svc::boards {

/// Gives those that are named by their keys their ids: one round trip, none when all are ids. A key
/// that no card has becomes the nil UUID, which whoever uses it refuses as an id that nothing has.
void find_ids(Call& call, const std::vector<CardRef*>& refs);

/// Ids of those that have them by now.
std::optional<Uuid> id_in(const std::optional<CardRef>& ref);
std::vector<Uuid> ids_in(const std::vector<CardRef>& refs);

/// The id behind a key such as ENG-42; a round trip when it is not an id already. 404 for a key
/// that no card has. Whether the caller may know the card is for later statements to say.
Uuid id_of(Call& call, const CardRef& ref);

}  // namespace svc::boards

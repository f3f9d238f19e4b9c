#pragma once

#include "modules/boards/parts/names.hpp"
#include "modules/boards/statements.hpp"

namespace svc::boards {

/// The id behind a key such as ENG-42, for writes; a round trip when it is not an id already.
/// Whether the caller may know the card is for later statements to say.
Uuid id_of(Call& call, const CardRef& ref);

}  // namespace svc::boards

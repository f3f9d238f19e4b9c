#pragma once

#include "modules/boards/api/bodies.hpp"

namespace svc::queue {

/// Tells the briefs of cards how earlier claims ended, and what came of the cards to be done first.
boards::BriefSource& brief_source();

}  // namespace svc::queue

#pragma once

#include "modules/boards/api/bodies.hpp"

namespace svc::queue {

/// Tells the briefs of cards how earlier claims ended, and what came of the cards to be done first.
std::unique_ptr<boards::BriefSource> make_brief_source();

}  // namespace svc::queue

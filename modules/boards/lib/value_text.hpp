#pragma once

#include "svc/types.hpp"

namespace svc::boards {

/// What a property's value says, as people would write it in one line; nothing for what only
/// machines read.
std::string text_of_value(const JsonText& value);

}  // namespace svc::boards

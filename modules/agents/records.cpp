// The descriptions of the structs that several files use.

#include "modules/agents/shapes.hpp"

#include "svc/define_records.hpp"

#include "modules/agents/agents.hpp"
#include "modules/agents/tokens.hpp"

// The descriptions of the structs that several files use.

#include "modules/agents/api.hpp"

#include "svc/define_records.hpp"

#include "modules/oauth/settings.hpp"
#include "modules/oauth/shapes.hpp"

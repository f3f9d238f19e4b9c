// The descriptions of the structs that several files use.

#include "svc/define_records.hpp"

#include "modules/webhooks/settings.hpp"
#include "modules/webhooks/shapes.hpp"

// The descriptions of the structs that several files use.

#include "modules/webhooks/settings.hpp"
#include "modules/webhooks/shapes.hpp"

#include "svc/define_records.hpp"

#include "modules/webhooks/webhooks.hpp"

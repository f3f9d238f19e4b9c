// The descriptions of the structs that several files use.

#include "modules/boards/api/shapes.hpp"

#include "svc/define_records.hpp"

#include "modules/auth/api.hpp"
#include "modules/notifications/facts.hpp"
#include "modules/notifications/rows.hpp"
#include "modules/notifications/settings.hpp"
#include "modules/notifications/shapes.hpp"

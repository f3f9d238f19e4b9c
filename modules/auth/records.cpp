// The descriptions of the structs that several files use.

#include "modules/auth/api.hpp"

#include "svc/define_records.hpp"

#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "modules/auth/shapes.hpp"

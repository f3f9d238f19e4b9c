// The descriptions of the structs that several files use.

#include "svc/define_records.hpp"

#include "modules/feedback/settings.hpp"
#include "modules/feedback/shapes.hpp"
#include "modules/files/api.hpp"

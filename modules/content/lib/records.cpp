// The descriptions of the structs that several files use.

#include "modules/lib/rich_text/rich_text.hpp"

#include "svc/define_records.hpp"

#include "modules/content/api.hpp"

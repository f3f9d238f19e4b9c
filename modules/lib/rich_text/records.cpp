// The descriptions of the structs that several files use.

#include "svc/define_records.hpp"

#include "modules/lib/rich_text/rich_text.hpp"

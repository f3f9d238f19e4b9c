// The descriptions of the structs that several files use.

#include "modules/queue/api.hpp"
#include "modules/queue/parts/rows.hpp"

#include "svc/define_records.hpp"

#include "modules/queue/holder_request.hpp"

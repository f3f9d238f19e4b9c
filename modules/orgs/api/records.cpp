// The descriptions of the structs that several files use.

#include "svc/define_records.hpp"

#include "modules/orgs/api/directory_writes.hpp"

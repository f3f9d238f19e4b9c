// The descriptions of the structs that several files use.

#include "svc/define_records.hpp"

#include "modules/automations/engine/automation.hpp"

// The descriptions of the structs that several files use.

#include "modules/auth/api.hpp"
#include "modules/orgs/api.hpp"

#include "svc/define_records.hpp"

#include "modules/boards/api.hpp"
#include "modules/boards/definitions.hpp"
#include "modules/boards/jobs.hpp"
#include "modules/boards/parts/spacing.hpp"

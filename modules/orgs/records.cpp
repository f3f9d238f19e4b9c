// The descriptions of the structs that several files use.

#include "modules/orgs/api.hpp"

#include "svc/define_records.hpp"

#include "modules/orgs/invitations.hpp"
#include "modules/orgs/orgs.hpp"
#include "modules/orgs/seats.hpp"

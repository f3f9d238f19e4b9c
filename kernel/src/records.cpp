// The descriptions of the structs that several files use.

#define SVC_RECORDS_OF_KERNEL
#include "svc/define_records.hpp"

#include "cli/archive.hpp"
#include "core/settings.hpp"
#include "decl/input.hpp"
#include "events/audit.hpp"
#include "events/rows.hpp"
#include "jobs/store.hpp"
#include "svc/caller.hpp"
#include "svc/envelope.hpp"
#include "svc/events.hpp"
#include "svc/page.hpp"
#include "svc/rate_limit.hpp"
#include "svc/spacing.hpp"
#include "svc/workspace_jobs.hpp"
#include "svc/workspace_pages.hpp"

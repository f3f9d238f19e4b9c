// The descriptions of the structs that several files use.

#include "modules/content/api.hpp"

#include "svc/define_records.hpp"

#include "modules/content/attachments.hpp"
#include "modules/content/comments.hpp"
#include "modules/content/found.hpp"
#include "modules/content/statements.hpp"
#include "modules/content/tree.hpp"

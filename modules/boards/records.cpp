// The descriptions of the structs that several files use.

#include "modules/boards/api.hpp"

#include "svc/define_records.hpp"

#include "modules/boards/board.hpp"
#include "modules/boards/card_requests.hpp"
#include "modules/boards/card_rewrites.hpp"
#include "modules/boards/column_pages.hpp"
#include "modules/boards/columns.hpp"
#include "modules/boards/edits.hpp"
#include "modules/boards/labels.hpp"
#include "modules/boards/moves.hpp"
#include "modules/boards/one_move.hpp"
#include "modules/boards/people.hpp"
#include "modules/boards/properties.hpp"
#include "modules/boards/property_values.hpp"
#include "modules/boards/relatives.hpp"
#include "modules/boards/residents.hpp"
#include "modules/boards/share_links.hpp"
#include "modules/boards/statements.hpp"
#include "modules/boards/waiting.hpp"

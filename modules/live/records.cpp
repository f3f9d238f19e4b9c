#include "svc/define_records.hpp"

#include "modules/live/streams.hpp"

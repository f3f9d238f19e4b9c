#pragma once

#include "svc/types.hpp"

namespace svc::store_local {

struct Settings {
    std::string folder;
    std::string public_url;
    std::int64_t uploads_at_once = 64;
};
SVC_RECORD(
    Settings,
    (folder,
     "Where the bytes of files are kept; empty: `objects` below `var`. All servers of one database "
     "need the same.",
     length(0, 4000),
     defaulted),
    (public_url,
     "The address of this server that uploads go to and downloads come from, without trailing "
     "slash; empty: the server's own. One of another host name keeps what people upload apart "
     "from the pages.",
     length(0, 2000),
     defaulted),
    (uploads_at_once,
     "Uploads that may come in at the same time; beyond it 503.",
     range(1, 100000),
     defaulted)
);

}  // namespace svc::store_local

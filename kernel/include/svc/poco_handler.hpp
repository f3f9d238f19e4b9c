#pragma once

#include "svc/kernel.hpp"

namespace Poco::Net {
class HTTPRequestHandlerFactory;
}

namespace svc {

/// A route served by handlers written against POCO, unchanged: they see a whole request and
/// write to a buffer, which is sent when they return, framed by the server whatever they say of
/// length, encoding and connection. A Failure that they throw is answered as anywhere; whatever
/// else is a 500 in the API's shape, and what it says goes to the log. The factory is called on any
/// worker, for many requests at once; when it makes no handler the answer is 501, as in POCO's own
/// server. A module that uses this includes POCO's headers itself and links Poco::Net.
/// docs/examples/poco-page is one.
Route poco_route(
    std::string method,
    std::string path,
    Access access,
    std::shared_ptr<Poco::Net::HTTPRequestHandlerFactory> factory
);

}  // namespace svc

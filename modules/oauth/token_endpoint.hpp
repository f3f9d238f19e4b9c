#pragma once

#include "svc/kernel.hpp"

namespace svc::oauth {

/// POST /oauth/token (RFC 6749) and POST /oauth/revoke (RFC 7009).
http::Answer give_tokens(Kernel& kernel, const http::Request& request);
http::Answer revoke_token(Kernel& kernel, const http::Request& request);

}  // namespace svc::oauth

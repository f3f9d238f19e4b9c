#pragma once

#include "svc/http.hpp"

#include <string>
#include <string_view>

namespace svc::http {

/// Whether an Accept-Encoding header takes this coding: named, or by `*`, and not with q=0.
/// Without a header only `identity` is taken.
bool accepts_coding(std::string_view accept_encoding, std::string_view coding);

/// Whether an If-None-Match header names this entity tag, weakly compared.
bool names_tag(std::string_view if_none_match, std::string_view tag);

}  // namespace svc::http

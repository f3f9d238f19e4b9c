#pragma once

#include "svc/http.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Which site's page made a browser send a request.
namespace svc {

/// A browser says that a page of another site than the server at `base_url` sent it.
bool from_another_site(std::string_view base_url, const http::Request& request);
/// Whether two addresses have scheme, host and port in common, whatever the case and whether the
/// usual port is said.
bool names_same_origin(std::string_view a, std::string_view b);
bool names_one_of(const std::vector<std::string>& origins, std::string_view origin);

}  // namespace svc

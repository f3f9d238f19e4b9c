#pragma once

#include <string>
#include <string_view>

namespace svc::files {

/// A Content-Disposition (RFC 6266) in visible ASCII: pictures are shown, all else is saved under
/// this name, whatever characters it has.
std::string disposition_of(std::string_view content_type, std::string_view filename);

}  // namespace svc::files

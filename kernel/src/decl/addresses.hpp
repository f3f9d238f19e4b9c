#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Names that people write in any script, made comparable.
namespace svc::decl {

/// The domain in ASCII: labels in other scripts as A-labels (UTS 46, IDNA 2008), lower case.
/// Nothing when it is no domain name.
std::optional<std::string> ascii_domain(std::string_view domain);

/// Full case folding of Unicode, in NFC: canonically equal texts that differ in case alone come to
/// the same.
std::string folded(std::string_view text);

}  // namespace svc::decl

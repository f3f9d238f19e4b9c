#pragma once

#include <string_view>

/// What a file's name says about it.
namespace svc::http {

/// The Content-Type for a name's ending; `application/octet-stream` for those unknown.
std::string_view media_type(std::string_view name);

/// The name carries a digest of the content, as bundlers write it (`index-BqK2x_9z.js`,
/// `app.3f2c9a1e.css`), so the content behind it never changes.
bool carries_digest(std::string_view name);

/// A relative path whose segments are all plain names: none empty, hidden, `.` or `..`.
bool is_plain_path(std::string_view path);

}  // namespace svc::http

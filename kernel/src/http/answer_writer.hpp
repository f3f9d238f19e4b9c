#pragma once

#include "svc/http.hpp"

#include <cstdint>
#include <string>

namespace svc::http {

/// What happens to the connection behind an answer.
enum class After : std::uint8_t { keep, close, stream };

/// How the request wants to be answered.
struct SendOptions {
    bool newer = true;       ///< HTTP/1.1 rather than 1.0
    bool head_only = false;  ///< the request was a HEAD
    After after = After::keep;
};

/// Appends status line and headers. Date, Content-Length and Connection are added here, so
/// those that the answer brings are left out; what could break a line becomes a space.
void write_head(const Answer& answer, const SendOptions& options, std::string& out);

/// No body follows the head for HEAD, a stream, or a status that has none.
bool sends_body(const Answer& answer, const SendOptions& options);

}  // namespace svc::http

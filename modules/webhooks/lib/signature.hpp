#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What proves to a receiver that a delivery is ours, and when it was sent (interface document,
/// section 6).
namespace svc::webhooks {

/// The value of X-Svc-Signature: `t=<unix seconds>,v1=<64 hex digits>`, with another `v1` for each
/// further secret. `v1` is the HMAC-SHA256, keyed with the secret's bytes as they are shown, of
/// `<t>.<body>`.
std::string signature(
    const std::vector<std::string>& secrets, std::int64_t unix_seconds, std::string_view body
);

/// The value of `webhook-signature` as Standard Webhooks has it: `v1,<base64>` for each secret,
/// separated by spaces, of `<id>.<t>.<body>`. The key is what follows `whsec_` in the secret,
/// decoded from base64; the bytes of the secret where that is none.
std::string standard_signature(
    const std::vector<std::string>& secrets,
    std::string_view id,
    std::int64_t unix_seconds,
    std::string_view body
);

}  // namespace svc::webhooks

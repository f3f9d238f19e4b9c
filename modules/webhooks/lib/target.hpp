#pragma once

#include <string>

namespace svc::webhooks {

/// Where events may be sent: `public_only` https to the public internet, at the ports 443 and 8443;
/// `anywhere` also http, any port and any network.
enum class Reach { public_only, anywhere };

/// Why nothing is sent to this URL, for whoever named it; empty when it may be. It resolves no
/// names: what a name stands for is judged when something is sent.
std::string fault_of_target(const std::string& url, Reach reach);

}  // namespace svc::webhooks

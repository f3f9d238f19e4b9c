#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where a client has its codes sent. Addresses are compared as text, so nothing is normalised
/// here.
namespace svc::oauth {

struct RedirectUri {
    std::string text;
    std::string host;       ///< as people are shown it: without port; of a program its scheme
    bool loopback = false;  ///< http, to the machine that the browser runs on

    /// Nothing unless it is https, http on the loopback, or of a scheme that `schemes` has or that
    /// has a dot in it; and without user, fragment, or what is no visible ASCII.
    static std::optional<RedirectUri> parse(
        std::string_view text, const std::vector<std::string>& schemes
    );
};

/// Whether `asked` is what was registered: the same text, but for the port of a loopback address
/// (RFC 8252, section 7.3).
bool is_registered(const RedirectUri& asked, const std::vector<std::string>& registered);

/// The address with these members in its query besides.
std::string with_query(
    const std::string& uri, const std::vector<std::pair<std::string_view, std::string>>& members
);

}  // namespace svc::oauth

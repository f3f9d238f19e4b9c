#pragma once

#include <Poco/Net/Context.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace Poco::Net {
class HTTPRequest;
class StreamSocket;
}  // namespace Poco::Net

/// Asking another server, without trusting it to be quick, brief or kind.
namespace svc::idp_oidc {

/// No answer that could be used: unreachable, too slow, too long, not HTTP.
class FetchError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A web address, taken apart.
struct Address {
    bool secure = true;
    std::string host;
    std::uint16_t port = 443;
    std::string target;  ///< path and query

    /// Throws FetchError unless it is https, or http on this machine; names and passwords in it
    /// are refused, and so is a fragment.
    static Address parse(const std::string& url);
    bool is_this_machine() const;
};

struct Fetched {
    int status = 0;
    std::string body;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

class Fetch {
public:
    struct Limits {
        std::chrono::milliseconds time{10'000};  ///< for all of one exchange
        std::size_t bytes = 256 << 10;           ///< of a body
    };
    /// `ca_file`: who may vouch for servers; empty: the system's authorities.
    Fetch(Limits limits, const std::string& ca_file);

    /// The answer, whatever its status; a redirect is not followed. Any thread. FetchError.
    Fetched get(const std::string& url, const Headers& headers = {}) const;
    /// Sends a form.
    Fetched post(const std::string& url, const std::string& form, const Headers& headers = {})
        const;

private:
    struct Ask;
    Fetched run(const Ask& ask) const;
    Fetched exchange_over(
        const Poco::Net::StreamSocket& socket,
        const Address& address,
        Poco::Net::HTTPRequest& request,
        const std::string& form
    ) const;

    Limits limits_;
    Poco::Net::Context::Ptr context_;
};

}  // namespace svc::idp_oidc

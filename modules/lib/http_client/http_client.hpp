#pragma once

#include "modules/lib/http_client/dial.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Asking other servers, without trusting them to be quick, brief or kind.
namespace svc {

/// No answer that could be used: unreachable, refused by the rules, too slow, too long, not HTTP,
/// or broken off. The text names the host and why; it is for operators.
class HttpError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A web address, taken apart.
struct WebAddress {
    bool secure = true;
    std::string host;  ///< an IPv6 address without brackets
    std::uint16_t port = 443;
    std::string target = "/";  ///< path and query, encoded

    /// Of `http` or `https`. Throws HttpError when it is something else, or has a user, a fragment,
    /// or anything in it that is no visible ASCII.
    static WebAddress parse(const std::string& url);
    /// As in the Host header: with the port, unless it is the usual one.
    std::string authority() const;
};

/// Nothing but visible ASCII and spaces: nothing that would end a line of a request. And the name
/// of a header, which has no spaces and marks either.
bool is_one_line(std::string_view text);
bool is_header_name(std::string_view text);

struct HttpRequest {
    using Headers = std::vector<std::pair<std::string, std::string>>;
    /// The next piece of a body, good until the next call; empty at its end.
    using Source = std::function<std::string_view()>;

    std::string method = "GET";
    WebAddress to;
    Headers headers{};  ///< besides Host, User-Agent and Content-Length; each is one line
    std::string body{};
    Source source{};  ///< instead of `body`, of so many bytes
    std::int64_t source_bytes = 0;
    std::chrono::milliseconds more_time{0};  ///< for what is large
};

/// HttpError when the target or a header would not be one line.
void require_lines(const WebAddress& to, const HttpRequest::Headers& headers);

struct HttpAnswer {
    int status = 0;
    std::string body;  ///< empty when a sink took it
};

/// Asks one request at a time, each over a connection of its own. Redirects are not followed. Any
/// thread.
class HttpClient {
public:
    struct Settings {
        std::chrono::milliseconds time{10'000};  ///< for all of one exchange
        std::size_t most_bytes = 256 << 10;      ///< of a body that is kept
        std::string ca_file{};                   ///< who may vouch for servers: tls_context()
        AddressRules rules{};
        Resolver* resolver = nullptr;  ///< outlives the client; null: the one that all share
    };
    explicit HttpClient(Settings settings);

    /// The answer, whatever its status. Throws HttpError; what the source or the sink throws goes
    /// through. `sink` takes the body of a 200 as it comes in.
    using Sink = std::function<void(std::string_view)>;
    HttpAnswer run(const HttpRequest& request, const Sink& sink = nullptr) const;

private:
    const Settings settings_;
    const LazyTlsContext tls_;
};

}  // namespace svc

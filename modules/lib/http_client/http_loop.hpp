#pragma once

#include "modules/lib/http_client/http_client.hpp"
#include "modules/lib/http_client/resolver.hpp"

#include <memory>

namespace svc {

/// Posts to many servers at once, on one thread and without waiting for any of them: a thousand
/// that hang cost a thousand sockets. Connections are kept for the next request. Redirects are not
/// followed, and what is dialled is the address that was judged.
class HttpLoop {
public:
    struct Settings {
        std::chrono::milliseconds connect_time{5'000};  ///< resolving and connecting, of `time`
        std::chrono::milliseconds time{10'000};         ///< for all of one exchange
        std::chrono::milliseconds body_time{1'000};     ///< for a body, once its status is known
        std::chrono::milliseconds idle_time{20'000};    ///< that a connection waits for another
        std::size_t most_idle = 4;                      ///< connections that a lane keeps
        std::string ca_file{};                          ///< who may vouch: tls_context()
        AddressRules rules{};
        int resolvers = 16;  ///< names that are asked for at the same time
        Resolver::Lookup lookup{look_up};  ///< the addresses of a name, that `rules` judge
    };
    struct Post {
        WebAddress to;
        HttpRequest::Headers headers{};  ///< besides Host, User-Agent and Content-Length
        std::shared_ptr<const std::string> body;
        /// Requests of one lane share connections, and with no others. A lane is of a group, which
        /// has a share of the resolvers.
        std::string lane, group;
    };
    struct Outcome {
        int status = 0;     ///< 0: there was no answer,
        std::string error;  ///< for this reason
        std::string body;   ///< its beginning, 4 KiB at most
        std::optional<std::chrono::seconds> retry_after;
        std::chrono::milliseconds took{0};
    };
    /// Called on the loop's thread, once; must not block.
    using Done = std::function<void(Outcome)>;

    explicit HttpLoop(Settings settings);
    /// Ends what is under way; of that nobody is told. It takes moments, whoever hangs.
    ~HttpLoop();
    HttpLoop(const HttpLoop&) = delete;
    HttpLoop& operator=(const HttpLoop&) = delete;

    /// Any thread. Throws HttpError when the request would not be one, at once.
    void post(Post post, Done done);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc

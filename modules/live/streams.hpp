#pragma once

#include "modules/live/hub.hpp"

/// The two streams of events: `/v1/ws` and `/v1/sse`.
namespace svc::live {

struct Settings {
    std::int64_t streams_per_principal = 50;
    std::int64_t waits_per_principal = 50;
    std::vector<std::string> allowed_origins;
};
SVC_SHARED_RECORD(
    Settings,
    (streams_per_principal,
     "How many streams of events one person or agent may have open on a server.",
     range(1, 1'000'000),
     defaulted),
    (waits_per_principal,
     "How many calls of list_events one person or agent may have waiting on a server; further ones "
     "are answered at once.",
     range(1, 1'000'000),
     defaulted),
    (allowed_origins,
     "Other sites whose pages may open `/v1/ws` and `/v1/sse` with the session cookie of this one, "
     "such as `https://boards.example.com`. With a ticket the pages of any site may.",
     defaulted)
);

/// What the routes of both kinds share. Any thread.
class Streams {
public:
    Streams(Kernel& kernel, Hub& hub, const Settings& settings)
        : kernel_(kernel), hub_(hub), allowed_origins_(settings.allowed_origins) {}

    http::Answer open_sse(RouteCall& call);
    /// What lets a page of another site read an answer of it, where it may (CORS).
    http::Headers for_other_sites(const http::Request& request) const;
    http::Answer open_web_socket(RouteCall& call);

    Kernel& kernel() const { return kernel_; }
    Hub& hub() const { return hub_; }

private:
    /// Failure 403 when a page of another site uses the caller's cookie. `told`: the page said
    /// where it is from.
    enum class Told { perhaps, always };
    void refuse_other_sites(const RouteCall& call, Told told) const;
    /// A HEAD is answered like a GET, and there is no stream in that.
    void refuse_head(const RouteCall& call) const;
    void redeem_ticket(const RouteCall& call) const;
    bool allows(std::string_view origin) const;
    boards::BoardCaller caller_of(const RouteCall& call) const;
    Viewer& enter(Feed& feed, const RouteCall& call) const;
    void require_board(const boards::BoardCaller& caller, const Uuid& board) const;

    Kernel& kernel_;
    Hub& hub_;
    const std::vector<std::string> allowed_origins_;
};

/// Whether text is a filter of kinds: a kind, `noun.*` or `*`.
bool is_kind_filter(std::string_view text);

}  // namespace svc::live

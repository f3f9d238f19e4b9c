#pragma once

#include "svc/kernel.hpp"

#include <array>
#include <mutex>
#include <unordered_map>

namespace svc::mcp {

/// Revisions that open with `initialize`, newest first; and the stateless one.
inline constexpr std::array<std::string_view, 3> handshake_versions{
    "2025-11-25", "2025-06-18", "2025-03-26"
};
inline constexpr std::string_view stateless_version = "2026-07-28";
/// The one whose answers come on a stream; its sessions are begun by that.
inline constexpr std::string_view sse_version = "2024-11-05";

struct Session {
    Uuid id;
    std::string_view version;  ///< what was negotiated, one of handshake_versions, or sse_version
    Timestamp expires_at;
};

/// Handshake sessions. The id a client gets is a signed token that says all there is to know,
/// so every server takes it, also after a restart; only the ended ones are remembered. A
/// session belongs to the principal that opened it, in one workspace, and gives no right of its
/// own: the bearer token is checked on every request besides. Any thread.
class Sessions {
public:
    Sessions(Kernel& kernel, std::chrono::hours lifetime) : kernel_(kernel), lifetime_(lifetime) {}

    /// The id of a new session: visible ASCII.
    std::string open(const Caller& caller, std::string_view version) const;
    /// Nothing when the id is no session of this caller: unknown, expired or ended. One that was
    /// ended through another server is found for up to `fresh` more.
    std::optional<Session> find(const Caller& caller, std::string_view id);
    void end(const Caller& caller, const Session& session);

    static constexpr std::chrono::seconds fresh{5};

private:
    using Clock = std::chrono::steady_clock;

    std::string seal(const Caller& caller, std::string_view claims) const;
    bool ended(const Caller& caller, const Uuid& session);
    bool seen_alive(const std::string& session) const;

    Kernel& kernel_;
    std::chrono::hours lifetime_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Clock::time_point> alive_;  // as of when the database said so
};

}  // namespace svc::mcp

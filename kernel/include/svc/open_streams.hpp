#pragma once

#include "svc/types.hpp"

/// The streams that callers hold open on this server.
namespace svc {

/// A stream outlives the request that opened it, and nobody asks any more whose it is. The kernel
/// therefore asks for every stream of a route that is not for anyone: when a module says that a
/// workspace's rights may have changed, when a credential runs out, and every half minute besides.
/// Streams whose credential is no longer good, or stands for less than it did, are ended as revoked
/// (http::StreamEnd).
class OpenStreams {
public:
    static constexpr std::string_view name = "kernel.OpenStreams";
    virtual ~OpenStreams() = default;

    /// Has the streams of this workspace looked at; returns at once. Any thread.
    virtual void revalidate(const Uuid& org) = 0;
    /// The same of the streams of this person, in whatever workspace; on every server.
    virtual void revalidate_person(const Uuid& user) = 0;
};

}  // namespace svc

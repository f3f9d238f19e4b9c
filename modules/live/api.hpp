#pragma once

#include "svc/types.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

/// What live offers to modules that have something to say to one person alone.
namespace svc::live {

/// Whose streams of a workspace are open on this server.
class PersonalStreams {
public:
    static constexpr std::string_view name = "live.PersonalStreams";

    /// The workspaces that anybody reads here.
    virtual std::set<Uuid> workspaces() = 0;
    /// The people and agents who do so in this one; an integration token reads as its owner.
    virtual std::set<Uuid> readers_in(const Uuid& org) = 0;
    /// Sends a message of this type to all streams there of each of them: members of a JSON object,
    /// each behind a comma, by whom it is for. At most once, and never waits.
    virtual void tell(
        const Uuid& org, std::string_view type, const std::map<Uuid, std::string>& members
    ) = 0;

protected:
    ~PersonalStreams() = default;
};

}  // namespace svc::live

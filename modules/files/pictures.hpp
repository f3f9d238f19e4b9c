#pragma once

#include "modules/auth/api.hpp"
#include "modules/files/files.hpp"
#include "modules/orgs/api.hpp"

namespace svc::files {

/// Pictures that show people, agents and workspaces. Their addresses last, and are for everybody
/// who has them: each is signed for its picture alone, and leads on to where the store gives the
/// bytes away at the moment.
class Pictures final : public auth::Pictures, public orgs::Pictures {
public:
    explicit Pictures(const Service& service) : service_(service) {}
    void add_route(Kernel& kernel) const;

    std::optional<Url> address_of(Call& call, const Uuid& file) override;

private:
    http::Answer serve(const http::Request& request) const;

    const Service& service_;
};

}  // namespace svc::files

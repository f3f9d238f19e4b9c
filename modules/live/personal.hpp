#pragma once

#include "modules/live/api.hpp"
#include "modules/live/hub.hpp"

namespace svc::live {

/// What is said to one person alone, by the streams that the hub has.
class Personal final : public PersonalStreams {
public:
    explicit Personal(Hub& hub) : hub_(hub) {}

    std::set<Uuid> workspaces() override;
    std::set<Uuid> readers_in(const Uuid& org) override;
    void tell(const Uuid& org, std::string_view type, const std::map<Uuid, std::string>& members)
        override;

private:
    Hub& hub_;
};

}  // namespace svc::live

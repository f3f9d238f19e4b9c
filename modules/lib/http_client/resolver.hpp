#pragma once

#include "modules/lib/http_client/address_rules.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace svc {

/// Asks for the addresses of names on threads of its own, since the system's resolver blocks, for
/// as long as a name's servers like. Of each group, a tenant say, a quarter of the threads at most
/// are busy at the same time.
class Resolver {
public:
    using Clock = std::chrono::steady_clock;
    /// Any thread. Throws when there is no such name.
    using Lookup = std::function<std::vector<Poco::Net::IPAddress>(const std::string& host)>;

    Resolver(Lookup lookup, AddressRules rules, int threads);
    /// From then on nobody is told anything. A thread that waits for an answer ends once it has it,
    /// and is not waited for.
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    struct Answer {
        std::vector<Poco::Net::IPAddress> addresses;
        std::string error;  ///< why there are none
    };
    using Done = std::function<void(Answer)>;
    /// Any thread. `done` is called on one of the resolver's, and must not block; never when nobody
    /// got to the question `until` then.
    void ask(std::string host, std::string group, Clock::time_point until, Done done);

private:
    struct State;
    const std::shared_ptr<State> state_;  // the threads', too, which may outlive this
};

}  // namespace svc

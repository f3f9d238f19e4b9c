#pragma once

#include "modules/lib/http_client/address_rules.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace svc {

/// Asks for the addresses of names on threads of its own, since the system's resolver blocks, for
/// as long as a name's servers like. Of each group, a tenant say, a quarter of the threads at most
/// are busy at the same time.
class Resolver {
public:
    Resolver(AddressRules rules, int threads);
    /// Waits for what is being asked.
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    struct Answer {
        std::vector<Poco::Net::IPAddress> addresses;
        std::string error;  ///< why there are none
    };
    using Done = std::function<void(Answer)>;
    /// Any thread. `done` is called on one of the resolver's, and must not block.
    void ask(std::string host, std::string group, Done done);

private:
    struct Question {
        std::string host, group;
        Done done;
    };
    void run();
    std::deque<Question>::iterator next();

    const AddressRules rules_;
    const int most_of_group_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Question> waiting_;
    std::map<std::string, int> busy_;  // of each group
    bool stopping_ = false;
    std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace svc

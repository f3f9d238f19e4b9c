#pragma once

#include "modules/live/hub.hpp"
#include "svc/bus.hpp"

#include <set>

/// Who follows which board, on all servers of the database
/// (docs/decisions/0053-who-follows-is-written-down.md).
namespace svc::live {

/// What this server tells the others and what it knows of them. Each writes down who follows boards
/// by its streams, and wakes the others by the bus when that changes; these read what is written
/// about boards that somebody follows by theirs. Who was not heard of for `silence` is gone. As
/// long as the bus knows of no other server nothing is written and nothing is asked.
class SharedPresence {
public:
    static constexpr std::chrono::seconds beat{5}, silence{15}, reread{30};

    SharedPresence(Kernel& kernel, Hub& hub);

    /// To be called every other second, by one thread at a time: exchanges what has changed, and
    /// tells those who follow a board.
    void tick();
    /// The others need not wait until this server is not heard of any more.
    void leave() noexcept;

private:
    using Clock = std::chrono::steady_clock;
    /// What this server has written of a workspace, and when it read what the others have.
    struct Written {
        Present present;
        Clock::time_point read_at{};
    };

    void exchange();
    void be_alone();
    void keep_alive();
    void exchange(Feed& feed);
    void write(Tx& tx, const Uuid& org, const Present& from, const Present& to) const;
    Present read(Tx& tx, const Uuid& org, const Present& here) const;
    bool has_news(const Uuid& org);
    void forget_left();

    Kernel& kernel_;
    Hub& hub_;
    Bus& bus_;
    const Uuid server_ = new_uuid();
    // The tick's own.
    std::map<Uuid, Written> written_;  // by workspace
    std::vector<Uuid> others_;         // servers, in their order
    Clock::time_point seen_at_{};
    bool is_known_ = false;  // to the others

    std::mutex mutex_;
    std::set<Uuid> news_;  // under mutex_: workspaces of which another has said something
    std::atomic<bool> changed_{true};  // which servers there are
};

/// Drops what servers have said that are gone, as long as the module is on.
void add_sweep_of_presence(Kernel& kernel);

}  // namespace svc::live

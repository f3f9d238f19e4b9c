#pragma once

#include "core/waiter.hpp"
#include "svc/http.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

/// Requests that are served together (svc/joint.hpp).
namespace svc::core {

/// A group has some turns. While all of them are being served, others of the group that come in
/// wait, without a worker. When a turn is over the first of these serves all of them. So requests
/// that are few are served at once and each by itself, and the more there are, the more share what
/// serving costs.
///
/// A turn that takes longer than `overtaken_after` no longer makes others wait: the next request of
/// the group serves those that wait, and itself; when none comes, the first of them does. Any
/// thread.
class RequestGroups {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t most = 25;  ///< that are served together
    /// Of one group; whoever comes then is served by itself, in its caller's line.
    static constexpr std::size_t most_waiting = 10 * most;
    static constexpr std::chrono::milliseconds overtaken_after{50};

    class Member;
    using MemberPtr = std::shared_ptr<Member>;

    RequestGroups() = default;
    ~RequestGroups();
    /// From now on a thread looks after those who wait behind one that is held up.
    void open();
    /// The thread ends: it resumes nobody any more.
    void close();

    /// Into the group of that key, which is served by `turns` at the same moment; its first member
    /// says how many. Afterwards the member waits, leads others, or is to be served by itself.
    void enter(const std::string& key, const MemberPtr& member, std::size_t turns = 1);

    struct Load {
        std::size_t groups = 0;
        std::uint64_t together = 0;  ///< requests so far that another request served
    };
    Load load() const;

private:
    struct Turn {
        std::uint64_t number;
        Clock::time_point begun;
    };
    struct Group {
        std::size_t most_turns;
        std::vector<Turn> turns{};  // for which others wait
        std::vector<MemberPtr> waiting{};

        void drop_overtaken(Clock::time_point now);
    };
    void run();
    bool somebody_waits() const;
    std::vector<MemberPtr> overtake(Clock::time_point now);
    void pass_on(const std::string& key, std::uint64_t turn);
    MemberPtr give_next_turn(const std::string& key, Group& group);
    void give_turn(const std::string& key, Group& group, const MemberPtr& leader);

    mutable std::mutex mutex_;
    std::unordered_map<std::string, Group> groups_;
    std::uint64_t turns_ = 0;
    std::atomic<std::uint64_t> together_{0};
    bool resting_ = false, stopping_ = false;  // the thread; under mutex_
    std::condition_variable look_;
    std::thread thread_;
};

/// One request, from when it enters until it is answered. The group's turn is its own while it is
/// served: when it ends, however it does, those whom it has not answered are served by themselves,
/// and the turn passes on.
class RequestGroups::Member {
public:
    /// The waiter is called without a lock.
    Member(std::shared_ptr<void> input, std::string request_id, Waiter waiter)
        : input_(std::move(input)),
          request_id_(std::move(request_id)),
          waiter_(std::move(waiter)) {}
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    enum class State { waits, leads, alone, answered };
    State state() const { return state_.load(std::memory_order_acquire); }
    const void* input() const { return input_.get(); }
    const std::string& request_id() const { return request_id_; }
    /// The others whom it serves, while it leads.
    const std::vector<MemberPtr>& others() const { return others_; }
    /// What it was given; throws what failed for it.
    http::Answer take_answer();

    /// Sends away those of them whom nobody waits for any more.
    void leave_out_gone();
    /// Answers another, which comes back with it.
    void answer(Member& other, http::Answer answer);
    /// The same with what failed for it.
    void fail(Member& other, std::exception_ptr problem);
    /// Sends away those whom it has not answered, to be served by themselves; so is it.
    void go_alone();

private:
    friend class RequestGroups;
    void come_back(State state) {
        state_.store(state, std::memory_order_release);
        waiter_.resume();
    }

    const std::shared_ptr<void> input_;
    const std::string request_id_;
    const Waiter waiter_;
    std::atomic<State> state_{State::waits};
    std::vector<MemberPtr> others_;
    http::Answer answer_;
    std::exception_ptr problem_;  // instead

    // While it has the group's turn.
    RequestGroups* groups_ = nullptr;
    std::string key_;
    std::uint64_t turn_ = 0;
};

}  // namespace svc::core

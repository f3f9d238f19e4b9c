#pragma once

#include "modules/live/event_wait.hpp"
#include "modules/live/feed.hpp"
#include "svc/kernel.hpp"

#include <atomic>
#include <condition_variable>
#include <thread>

namespace svc::live {

/// All readers of this server. Its threads: two hand out what happens, two look up what
/// subscriptions have missed, workspaces take turns with both; one wakes calls that wait. Any
/// thread may call any member.
class Hub {
public:
    static constexpr std::string_view name = "live.Hub";  ///< offered to the handlers
    struct Limits {
        std::size_t streams_per_principal = 50, waits_per_principal = 50;
        /// Bytes of a workspace's events that wait to be handed out; what comes when there are more
        /// is looked up instead.
        std::size_t queued_bytes = 8 << 20;
    };
    Hub(Kernel& kernel, const Limits& limits);
    ~Hub() { stop(); }

    void start();
    void stop() noexcept;

    /// The kernel's listener: on the sequencer's thread.
    void hear(std::span<const StoredEvent> batch);

    /// The feed of a workspace, made when nobody reads there yet.
    std::shared_ptr<Feed> feed_of(const Uuid& org);
    /// Null when nobody has read there for a while.
    std::shared_ptr<Feed> find(const Uuid& org) const;
    /// How many streams each caller may have.
    StreamPlaces& places() { return places_; }

    /// For a call that waits for what passes this filter. Null when the caller has as many waiting
    /// as one may.
    std::shared_ptr<EventWait> wait_of(
        const boards::BoardCaller& caller, const PrincipalRef& who, const Filter& filter
    );

    /// To be called at this pace.
    static constexpr std::chrono::seconds beat{5};
    void keep_alive();
    struct Load {
        std::size_t readers = 0, workspaces = 0;
        std::uint64_t handed_out = 0, lost = 0, failures = 0;
    };
    Load load() const;
    /// Calls `each` with every feed there is.
    void for_each_feed(const std::function<void(Feed&)>& each) const;

private:
    using Clock = std::chrono::steady_clock;
    std::vector<std::shared_ptr<Feed>> feeds() const;
    /// What a feed has still to hand out, in its order.
    struct Outgoing {
        std::deque<std::shared_ptr<LiveEvent>> events;
        std::size_t bytes = 0;
        bool lost = false;   ///< some came too fast, and are to be looked up
        bool taken = false;  ///< by one of the threads
        bool lined_up = false;
    };
    using OutgoingOf = std::map<std::shared_ptr<Feed>, Outgoing>;

    void queue(const std::shared_ptr<Feed>& feed, std::vector<std::shared_ptr<LiveEvent>> events);
    void hand_out_all();
    void hand_out(std::unique_lock<std::mutex>& lock, OutgoingOf::iterator turn);
    bool tries(const std::function<void()>& work) noexcept;
    void look();
    void need_look(const std::shared_ptr<Feed>& feed);
    std::shared_ptr<Feed> next_to_look();
    void sweep();

    static constexpr std::chrono::milliseconds slice{5};  // then it is another workspace's turn
    static constexpr int senders = 2;
    static constexpr int lookers = 2;

    Kernel& kernel_;
    StreamPlaces places_, wait_places_;
    const std::size_t most_queued_;
    DelayedWakes wakes_;
    std::atomic<std::uint64_t> topics_{0};
    mutable std::mutex mutex_;
    // Under mutex_.
    std::map<Uuid, std::shared_ptr<Feed>> feeds_;

    std::mutex queue_mutex_;
    std::condition_variable queued_;
    // Under queue_mutex_.
    OutgoingOf outgoing_;
    std::deque<OutgoingOf::iterator> line_;

    std::mutex turns_mutex_;
    std::condition_variable to_look_;
    // Under turns_mutex_.
    std::deque<std::shared_ptr<Feed>> turns_;

    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> handed_out_{0}, overflows_{0}, failures_{0};
    std::chrono::seconds running_{0};  // the timer's own
    std::vector<std::thread> threads_;
};

}  // namespace svc::live

#pragma once

#include "modules/live/event_reader.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

/// The events of one workspace, for those who read them here.
namespace svc::live {

/// Who follows which boards: people and agents, each with what is told of them (a PrincipalRef).
using Present = std::map<Uuid, std::map<Uuid, std::string>>;

/// What one workspace's readers on this server share: its last events, who is attached, who is
/// behind, and what is known of rights. It is there while anybody reads. All of it is under one
/// lock, which nobody holds while they wait for anything.
///
/// Lock order: the hub's, a feed's, a stream's own.
class Feed : public std::enable_shared_from_this<Feed> {
public:
    Feed(const Uuid& org, StreamPlaces& places) : org_(org), places_(places) {}

    const Uuid& org() const { return org_; }
    StreamPlaces& places() const { return places_; }
    std::mutex& mutex() { return mutex_; }
    /// Called without the lock when somebody waits for a look at what they missed.
    std::function<void()> on_waiting = [] {};

    // ---- the thread that hands out events ----
    /// An event happened. Sends it to whoever is attached and may see it; whoever's rights are not
    /// known waits for a look. Lets go of the lock now and then.
    void hand_out(const std::shared_ptr<LiveEvent>& event);
    /// Events were lost on their way: everybody waits for a look at the record.
    void start_over();

    // ---- a timer's thread ----
    /// Calls `each` with every reader, under the lock, which is let go now and then: one that comes
    /// or goes meanwhile may be left out or met twice.
    template <class Each>
    void go_round(Each each) {
        for (std::size_t i = 0, end = 1; i < end; std::this_thread::yield()) {
            const std::lock_guard lock(mutex_);
            end = readers_.size();
            for (const auto last = std::min(end, i + at_once); i < last; ++i) each(*readers_[i]);
        }
    }
    /// Tells who is on the boards that subscriptions name, where that has changed. Lets go of the
    /// lock now and then.
    void tell_presence();
    /// Who follows boards by streams of this server, as far as other servers are to know.
    Present present_here();
    /// Who does by those of others.
    void set_elsewhere(Present elsewhere);

    // ---- under the lock ----
    Viewer& enter(const boards::BoardCaller& caller, const PrincipalRef& who);
    void leave(Viewer& viewer);
    /// Null when the caller reads nothing any more.
    Viewer* find(const boards::BoardCaller& caller) const;
    void add(StreamReader& reader);
    void remove(StreamReader& reader);
    std::size_t readers() const { return readers_.size(); }

    /// What is wanted, shared by all who want the same here.
    WantedPtr shared(Wanted wanted);
    /// The subscription waits to be attached.
    void subscribe(Subscription& subscription);
    void unsubscribe(Subscription& subscription);
    /// What it had on its way is sent.
    void go_on(Subscription& subscription);

    /// The first of those who wait, at most `most`; they are `reading` then. By their tickets.
    std::map<std::uint64_t, Subscription*> take_waiting(std::size_t most);
    /// The one that was taken with this ticket, if it is not over.
    Subscription* reading(std::uint64_t ticket) const;
    void wait_again(Subscription& subscription);
    void let_drain(Subscription& subscription);
    bool anybody_waits() const { return !waiting_.empty(); }

    enum class Sight { seen, hidden, unknown };
    Sight sight(const Viewer& viewer, const LiveEvent& event);
    Sight sight(const Viewer& viewer, const LiveEvent& event, std::uint32_t board) const;
    /// What is known of a role on the board of this number as it is after the event of this
    /// sequence; null when it has to be asked.
    const Viewer::Known* role_on(const Viewer& viewer, std::uint32_t board, std::int64_t after)
        const {
        const Viewer::Known* known = viewer.role_on(board);
        return known && (after <= last_ || after <= known->as_of) ? known : nullptr;
    }
    /// The number under which viewers know their roles on a board.
    std::uint32_t number_of(const Uuid& board) { return board_of(board)->number; }

    /// The sequence from which on events come one by one; all up to it that is not at hand has to
    /// be read. Zero when it is not known.
    std::int64_t last() const { return last_; }
    /// Sequence of the last event that whoever is attached has been sent; zero when it is not
    /// known.
    std::int64_t done() const { return done_; }
    /// Whether all that comes after `position` up to last() is at hand.
    bool covers(std::int64_t position) const {
        if (last_ == 0 || position > last_) return false;
        return position == last_ ||
               (!recent_.empty() && recent_.front()->event().sequence <= position + 1);
    }
    /// Of those at hand, the ones after `position`.
    template <class Each>
    void for_each_recent(std::int64_t position, Each each) const {
        for (auto at = first_after(position); at != recent_.end(); ++at)
            if (!each(**at)) return;
    }
    /// What was sent of events at hand is let go.
    void drop_frames() {
        for (const auto& each : recent_) each->drop_frames();
    }
    /// It has everything up to last(): from here on it gets what comes.
    void attach(Subscription& subscription);

    /// Who is on a board, as members of a JSON object.
    struct Presence {
        std::string members;
        std::uint32_t version = 0;  ///< rises when it changes; 0: nobody has looked yet
    };
    const Presence& presence_on(const Uuid& board) { return board_of(board)->presence; }
    /// Of how many boards something is known.
    std::size_t boards() const { return boards_.size(); }

private:
    using Recent = std::deque<std::shared_ptr<LiveEvent>>;
    /// Those attached, with holes where one has gone. While it is walked, with the lock let go
    /// between steps, it grows at its end alone and keeps its holes.
    struct Attached {
        std::deque<Subscription*> all;  // no copy and no room to spare when it grows
        std::size_t holes = 0;
        bool walked = false;
    };
    struct Board {
        std::uint32_t number = 0;
        Attached attached;
        Presence presence;
    };

    const std::shared_ptr<Board>& board_of(const Uuid& board);
    void forget_unused(const Uuid& board);
    void note_moved(const Subscription& subscription);
    void refresh_presence();
    void refresh_presence_on(const Uuid& board);
    void write_presence(
        Presence& presence, const std::map<Uuid, std::string>& people, std::size_t total
    );
    bool note(const std::shared_ptr<LiveEvent>& event);
    void note_rights(const StoredEvent& event);
    void hand_out(LiveEvent& event, Attached& to);
    bool hand_out(LiveEvent& event, std::uint32_t board, Subscription& to, bool wanted);
    void detach(Subscription& subscription, std::int64_t position);
    void forget_recent();
    void detach_all();
    void detach_all(Attached& from);
    void close_holes(Attached& list);
    void remove_from_lists(Subscription& subscription);
    Attached& list_of(const Subscription& subscription);
    Recent::const_iterator first_after(std::int64_t position) const;

    static constexpr std::size_t most_recent = 1'000, most_recent_bytes = 1 << 20;
    static constexpr std::size_t at_once = 128;    // sends for which the lock is held
    static constexpr std::size_t most_named = 50;  // of those who are on a board
    static constexpr std::size_t most_told = 200;  // of them, to other servers

    const Uuid org_;
    StreamPlaces& places_;
    std::mutex mutex_;
    // Under mutex_.
    std::deque<StreamReader*> readers_;
    using ViewerKey = std::tuple<Uuid, boards::CallerKind, OrgRole>;
    std::map<ViewerKey, std::unique_ptr<Viewer>> viewers_;
    std::map<Uuid, std::shared_ptr<Board>> boards_;
    Attached everywhere_;  // those who ask for no board
    std::uint32_t numbers_ = 0;
    Recent recent_;
    std::size_t recent_bytes_ = 0;
    std::int64_t last_ = 0, done_ = 0;
    std::map<std::uint64_t, Subscription*> waiting_, reading_;  // by ticket
    Present here_, elsewhere_;                                  // of a board the first `most_told`
    std::set<Uuid> moved_;  // boards to refresh: somebody came or left, here or elsewhere
    std::map<Wanted, WantedPtr> wanted_;
    std::size_t swept_wanted_ = 0;
    std::uint64_t tickets_ = 0;
};

}  // namespace svc::live

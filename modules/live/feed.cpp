#include "modules/live/feed.hpp"

#include "modules/live/rights.hpp"

#include <thread>

namespace svc::live {

namespace {

/// After such an event somebody's role on its board may be another.
bool changes_rights(std::string_view kind) {
    return kind.starts_with("board.") || kind.starts_with("grant.");
}

/// Whether a filter passes the event, asked again and again: most ask for the same.
class FilterMemory {
public:
    explicit FilterMemory(const StoredEvent& event) : event_(event) {}
    bool passes(const Filter& filter) {
        if (&filter != last_) passes_ = filter.passes(event_);
        last_ = &filter;
        return passes_;
    }

private:
    const StoredEvent& event_;
    const Filter* last_ = nullptr;
    bool passes_ = false;
};

}  // namespace

// ------------------------------------------------------------------------------ handing out

void Feed::hand_out(const std::shared_ptr<LiveEvent>& event) {
    std::shared_ptr<Board> board;
    bool follows = true;
    {
        const std::lock_guard lock(mutex_);
        follows = note(event);
        if (event->event().board_id) board = board_of(*event->event().board_id);
    }
    if (!follows) on_waiting();
    if (board) hand_out(*event, board->attached);
    hand_out(*event, everywhere_);
    const std::lock_guard lock(mutex_);
    done_ = std::max(done_, event->event().sequence);
    event->drop_frames();
}

/// False when events before it were lost, and everybody waits.
bool Feed::note(const std::shared_ptr<LiveEvent>& event) {
    const auto sequence = event->event().sequence;
    const bool follows = last_ == 0 || sequence <= last_ + 1;
    if (!follows) detach_all();
    if (sequence > last_) {
        last_ = sequence;
        recent_.push_back(event);
        recent_bytes_ += event->bytes();
        while (recent_.size() > 1 &&
               (recent_.size() > most_recent || recent_bytes_ > most_recent_bytes)) {
            recent_bytes_ -= recent_.front()->bytes();
            recent_.pop_front();
        }
    }
    if (changes_rights(event->event().kind)) note_rights(event->event());
    return follows;
}

/// A grant on one board confines an agent on all others.
void Feed::note_rights(const StoredEvent& event) {
    if (event.board_id) board_of(*event.board_id)->number = ++numbers_;
    if (!event.kind.starts_with("grant.")) return;
    for (const auto& [key, viewer] : viewers_)
        if (viewer->caller().kind == boards::CallerKind::agent) viewer->forget();
}

void Feed::hand_out(LiveEvent& event, Attached& to) {
    FilterMemory memory(event.event());
    for (std::size_t i = 0;;) {
        bool any_detached = false, done = false;
        {
            const std::lock_guard lock(mutex_);
            to.walked = true;
            const auto& board = event.event().board_id;
            const auto number = board ? number_of(*board) : 0;
            const auto end = std::min(to.all.size(), i + at_once);
            for (; i < end; ++i) {
                Subscription* each = to.all[i];
                if (!each) continue;
                if (!hand_out(event, number, *each, memory.passes(each->wanted->filter)))
                    any_detached = true;
            }
            done = i == to.all.size();
            if (done) {
                to.walked = false;
                close_holes(to);
            }
        }
        if (any_detached) on_waiting();
        if (done) return;
        std::this_thread::yield();  // others want the lock as well
    }
}

/// False when it has to wait for a look.
bool Feed::hand_out(LiveEvent& event, std::uint32_t board, Subscription& to, bool wanted) {
    const auto sequence = event.event().sequence;
    // Whoever may not see the board any more is told so, whatever they ask for and have got.
    if (to.wanted->filter.board && changes_rights(event.event().kind)) {
        detach(to, std::max(to.position, sequence - 1));
        return false;
    }
    if (!wanted || to.position >= sequence) return true;
    const auto seen = sight(to.reader->viewer(), event, board);
    if (seen == Sight::unknown) {
        detach(to, sequence - 1);
        return false;
    }
    if (seen == Sight::seen && to.reader->stream()) {
        to.reader->stream()->send(to.reader->frame_of(to, event));
        to.position = sequence;
    }
    return true;
}

void Feed::start_over() {
    {
        const std::lock_guard lock(mutex_);
        detach_all();
    }
    on_waiting();
}

/// Who is being looked after has to be looked after anew: the page they get may be older than what
/// was lost.
void Feed::detach_all() {
    forget_recent();
    for (auto& [id, board] : boards_) detach_all(board->attached);
    detach_all(everywhere_);
    while (!reading_.empty()) wait_again(*reading_.begin()->second);
    last_ = done_ = 0;
}

void Feed::forget_recent() {
    recent_.clear();
    recent_bytes_ = 0;
}

void Feed::detach_all(Attached& from) {
    from.walked = true;
    for (Subscription* each : from.all)
        if (each) detach(*each, std::max(each->position, done_));
    from.walked = false;
    close_holes(from);
}

void Feed::detach(Subscription& subscription, std::int64_t position) {
    remove_from_lists(subscription);
    subscription.position = position;
    subscribe(subscription);
}

void Feed::close_holes(Attached& list) {
    if (list.walked || list.holes * 2 <= list.all.size()) return;
    std::erase(list.all, nullptr);
    list.all.shrink_to_fit();
    for (std::size_t i = 0; i < list.all.size(); ++i) list.all[i]->place = i;
    list.holes = 0;
}

// ---------------------------------------------------------------------------- subscriptions

WantedPtr Feed::shared(Wanted wanted) {
    WantedPtr& known = wanted_[wanted];
    if (!known) known = new SharedWanted(std::move(wanted));
    const WantedPtr found = known;
    if (wanted_.size() > 2 * swept_wanted_ + 64) {
        std::erase_if(wanted_, [](const auto& each) { return each.second->use_count() == 1; });
        swept_wanted_ = wanted_.size();
    }
    return found;
}

void Feed::subscribe(Subscription& subscription) {
    subscription.state = Subscription::State::waiting;
    subscription.place = ++tickets_;
    waiting_.emplace(subscription.place, &subscription);
}

void Feed::unsubscribe(Subscription& subscription) {
    remove_from_lists(subscription);
    subscription.state = Subscription::State::over;
    if (const auto& board = subscription.wanted->filter.board) forget_unused(*board);
}

void Feed::go_on(Subscription& subscription) {
    if (subscription.state == Subscription::State::draining) subscribe(subscription);
}

std::map<std::uint64_t, Subscription*> Feed::take_waiting(std::size_t most) {
    std::map<std::uint64_t, Subscription*> taken;
    while (!waiting_.empty() && taken.size() < most) {
        auto first = waiting_.extract(waiting_.begin());
        first.mapped()->state = Subscription::State::reading;
        taken.emplace(first.key(), first.mapped());
        reading_.insert(std::move(first));
    }
    return taken;
}

Subscription* Feed::reading(std::uint64_t ticket) const {
    const auto found = reading_.find(ticket);
    return found == reading_.end() ? nullptr : found->second;
}

void Feed::wait_again(Subscription& subscription) {
    remove_from_lists(subscription);
    subscribe(subscription);
}

void Feed::let_drain(Subscription& subscription) {
    remove_from_lists(subscription);
    subscription.state = Subscription::State::draining;
}

void Feed::attach(Subscription& subscription) {
    remove_from_lists(subscription);
    // From here on a number that is left out is noticed.
    if (last_ == 0) last_ = done_ = subscription.position;
    auto& all = list_of(subscription).all;
    subscription.state = Subscription::State::attached;
    subscription.place = all.size();
    all.push_back(&subscription);
    note_moved(subscription);
}

void Feed::remove_from_lists(Subscription& subscription) {
    switch (subscription.state) {
        case Subscription::State::waiting: waiting_.erase(subscription.place); return;
        case Subscription::State::reading: reading_.erase(subscription.place); return;
        case Subscription::State::attached: {
            Attached& list = list_of(subscription);
            list.all[subscription.place] = nullptr;
            ++list.holes;
            close_holes(list);
            note_moved(subscription);
            return;
        }
        case Subscription::State::draining:
        case Subscription::State::over: return;
    }
}

Feed::Attached& Feed::list_of(const Subscription& subscription) {
    const auto& board = subscription.wanted->filter.board;
    return board ? board_of(*board)->attached : everywhere_;
}

Feed::Recent::const_iterator Feed::first_after(std::int64_t position) const {
    return std::ranges::upper_bound(recent_, position, {}, [](const auto& each) {
        return each->event().sequence;
    });
}

// -------------------------------------------------------------------------- readers and rights

Viewer& Feed::enter(const boards::BoardCaller& caller, const PrincipalRef& who) {
    auto& viewer = viewers_[{caller.principal, caller.kind, caller.role}];
    if (!viewer) viewer = std::make_unique<Viewer>(shared_from_this(), caller, who);
    ++viewer->readers;
    return *viewer;
}

void Feed::leave(Viewer& viewer) {
    const auto& caller = viewer.caller();
    if (--viewer.readers == 0) viewers_.erase({caller.principal, caller.kind, caller.role});
}

Viewer* Feed::find(const boards::BoardCaller& caller) const {
    const auto found = viewers_.find({caller.principal, caller.kind, caller.role});
    return found == viewers_.end() ? nullptr : found->second.get();
}

void Feed::add(StreamReader& reader) {
    reader.number = static_cast<std::uint32_t>(readers_.size());
    readers_.push_back(&reader);
}

void Feed::remove(StreamReader& reader) {
    readers_.back()->number = reader.number;
    std::swap(readers_[reader.number], readers_.back());
    readers_.pop_back();
}

Feed::Sight Feed::sight(const Viewer& viewer, const LiveEvent& event) {
    const auto& board = event.event().board_id;
    return sight(viewer, event, board ? number_of(*board) : 0);
}

Feed::Sight Feed::sight(const Viewer& viewer, const LiveEvent& event, std::uint32_t board) const {
    std::optional<boards::BoardRole> role;
    const bool on_board = event.event().board_id.has_value();
    if (on_board) {
        const Viewer::Known* known = role_on(viewer, board, event.event().sequence);
        if (!known) return Sight::unknown;
        role = known->role;
    }
    return may_see(event.audience(), on_board, role, viewer.caller().role) ? Sight::seen
                                                                           : Sight::hidden;
}

// ------------------------------------------------------------------------------------ boards

const std::shared_ptr<Feed::Board>& Feed::board_of(const Uuid& board) {
    auto& found = boards_[board];
    if (!found) {
        found = std::make_shared<Board>();
        found->number = ++numbers_;
    }
    return found;
}

/// Anybody may ask for a board that nobody has heard of. What was known of roles on it under its
/// number is asked again.
void Feed::forget_unused(const Uuid& board) {
    const auto found = boards_.find(board);
    if (found == boards_.end()) return;
    const Attached& attached = found->second->attached;
    if (attached.all.size() == attached.holes) boards_.erase(found);
}

}  // namespace svc::live

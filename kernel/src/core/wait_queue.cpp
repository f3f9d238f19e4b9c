#include "core/wait_queue.hpp"

#include <algorithm>

namespace svc::core {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds recheck_interval{1000};  // of one line
constexpr milliseconds recheck_spacing{40};     // between the rechecks of all lines
constexpr milliseconds dismiss_interval{1000};

}  // namespace

WaitQueue::WaitQueue() : thread_([this] { run(); }) {}

WaitQueue::~WaitQueue() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    due_.notify_all();
    thread_.join();
}

void WaitQueue::set(const Settings& settings) {
    std::lock_guard lock(mutex_);
    settings_ = settings;
}

bool WaitQueue::admit(Place& place, const Uuid& principal) {
    std::lock_guard lock(mutex_);
    if (!place.principal_.empty()) return true;
    auto name = principal.str();
    std::size_t& seats = seats_[name];
    if (seats >= settings_.most_per_principal) return false;
    ++seats;
    place.wait_queue_ = this;
    place.principal_ = std::move(name);
    return true;
}

void WaitQueue::park(Place& place, const Parked& wait, std::uint64_t ticket, Waiter waiter) {
    std::lock_guard lock(mutex_);
    std::vector<std::string> topics = wait.topics;
    std::ranges::sort(topics);
    topics.erase(std::ranges::unique(topics).begin(), topics.end());
    leave(place);
    // What it was called for and waits for no longer may be had by the next.
    if (place.why_ == Why::next || place.why_ == Why::recheck)
        for (const std::string& each : place.called_for_)
            if (!std::ranges::binary_search(topics, each)) call_next(each);
    place.wait_queue_ = this;
    if (place.number_ == 0 || place.topics_ != topics) place.number_ = ++numbers_;
    place.topics_ = std::move(topics);
    place.called_for_.clear();
    place.until_ = wait.until;
    place.waiter_ = std::move(waiter);
    for (const std::string& each : place.topics_)
        if (last_wake(each) > ticket) place.called_for_.push_back(each);
    if (closed_ || !place.called_for_.empty()) {
        place.why_ = Why::next;
        start(place);
    } else line_up(place, wait.announced);
    hand_out();
}

void WaitQueue::line_up(Place& place, bool announced) {
    bool fresh = false;
    for (const std::string& topic : place.topics_) {
        const auto line = lines_.try_emplace(topic).first;
        if (!announced && !line->second.turn) {
            line->second.rechecked_at = Clock::now();
            line->second.turn = turns_.insert(turns_.end(), &line->first);
            fresh = true;
        }
        line->second.places.emplace(place.number_, &place);
    }
    place.at_time_ = by_time_.emplace(place.until_, &place);
    place.state_ = Place::State::in_line;
    if (fresh || place.at_time_ == by_time_.begin()) due_.notify_one();
}

/// Takes it from wherever it is.
void WaitQueue::leave(Place& place) {
    switch (std::exchange(place.state_, Place::State::away)) {
        case Place::State::away: break;
        case Place::State::running: --running_; break;
        case Place::State::called: called_[lane_of(place.why_)].erase(place.at_call_); break;
        case Place::State::in_line:
            by_time_.erase(place.at_time_);
            for (const std::string& topic : place.topics_) leave_line(place, topic);
    }
}

void WaitQueue::leave_line(Place& place, const std::string& topic) {
    const auto line = lines_.find(topic);
    line->second.places.erase(place.number_);
    if (!line->second.places.empty()) return;
    if (line->second.turn) turns_.erase(*line->second.turn);
    lines_.erase(line);
}

void WaitQueue::end(Place& place) {
    std::lock_guard lock(mutex_);
    const bool was_called =
        place.state_ == Place::State::called || place.state_ == Place::State::running;
    leave(place);
    if (was_called && (place.why_ == Why::next || place.why_ == Why::recheck))
        for (const std::string& topic : place.called_for_) call_next(topic);
    if (const auto seats = seats_.find(place.principal_); seats != seats_.end())
        if (--seats->second == 0) seats_.erase(seats);
    hand_out();
}

void WaitQueue::call(Place& place, Why why, const std::string* topic) {
    if (topic) place.called_for_.assign(1, *topic);
    leave(place);
    place.why_ = why;
    place.state_ = Place::State::called;
    auto& lane = called_[lane_of(why)];
    place.at_call_ = lane.insert(lane.end(), &place);
}

void WaitQueue::call_next(std::string_view topic) {
    const auto line = lines_.find(std::string(topic));
    if (line == lines_.end()) return note_wake(topic);
    call(*line->second.places.begin()->second, Why::next, &line->first);
}

void WaitQueue::start(Place& place) {
    place.state_ = Place::State::running;
    ++running_;
    ++resumed_;
    place.waiter_.resume();
}

void WaitQueue::hand_out() {
    while (running_ < settings_.most_running || closed_) {
        if (called_[next_lane_].empty()) next_lane_ = 1 - next_lane_;
        auto& lane = called_[next_lane_];
        if (lane.empty()) return;
        next_lane_ = 1 - next_lane_;
        Place& first = *lane.front();
        lane.pop_front();
        start(first);
    }
}

std::uint64_t& WaitQueue::last_wake(std::string_view topic) {
    return last_wake_[std::hash<std::string_view>{}(topic) % slots];
}

void WaitQueue::note_wake(std::string_view topic) { last_wake(topic) = ++wakes_; }

void WaitQueue::wake(std::string_view topic) {
    std::lock_guard lock(mutex_);
    note_wake(topic);
    const std::string name(topic);
    for (auto line = lines_.find(name); line != lines_.end(); line = lines_.find(name))
        call(*line->second.places.begin()->second, Why::wake);
    hand_out();
}

void WaitQueue::wake_one(std::string_view topic) {
    std::lock_guard lock(mutex_);
    call_next(topic);
    hand_out();
}

void WaitQueue::close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    while (!by_time_.empty()) call(*by_time_.begin()->second, Why::time);
    hand_out();
}

WaitQueue::Load WaitQueue::load() const {
    std::lock_guard lock(mutex_);
    return {by_time_.size() + called_[0].size() + called_[1].size(), running_, resumed_};
}

void WaitQueue::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (by_time_.empty()) {
            due_.wait(lock);
            continue;
        }
        const auto next =
            std::min({by_time_.begin()->first, next_recheck(), dismissed_at_ + dismiss_interval});
        const auto now = Clock::now();
        if (next > now) due_.wait_until(lock, next);
        else look_after(now);
    }
}

void WaitQueue::look_after(Clock::time_point now) {
    while (!by_time_.empty() && by_time_.begin()->first <= now)
        call(*by_time_.begin()->second, Why::time);
    if (now >= dismissed_at_ + dismiss_interval) {
        dismissed_at_ = now;
        dismiss_gone();
    }
    if (!turns_.empty() && now >= next_recheck()) recheck(now);
    hand_out();
}

/// Lets go of those whose peer hung up, who would hold a seat until their time is over.
void WaitQueue::dismiss_gone() {
    for (auto each = by_time_.begin(); each != by_time_.end();) {
        Place& place = *(each++)->second;
        if (place.waiter_.gone()) call(place, Why::time);
    }
}

WaitQueue::Clock::time_point WaitQueue::next_recheck() const {
    if (turns_.empty()) return Clock::time_point::max();
    const Line& line = lines_.at(*turns_.front());
    return std::max(line.rechecked_at + recheck_interval, rechecked_at_ + recheck_spacing);
}

/// One of the line that has not looked for longest: the one behind the last that did.
void WaitQueue::recheck(Clock::time_point now) {
    const std::string& topic = *turns_.front();
    Line& line = lines_.at(topic);
    turns_.splice(turns_.end(), turns_, turns_.begin());
    line.rechecked_at = rechecked_at_ = now;
    auto next = line.places.upper_bound(line.last_rechecked);
    if (next == line.places.end()) next = line.places.begin();
    line.last_rechecked = next->first;
    call(*next->second, Why::recheck, &topic);
}

}  // namespace svc::core

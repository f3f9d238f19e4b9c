#include "core/admission.hpp"

#include <algorithm>

namespace svc::core {

namespace {

/// Whoever had a request within that time is at work.
constexpr std::chrono::seconds beside{1};
/// So many open on average are as good as none.
constexpr double hardly = 0.1;
/// However long it took, its room stays free no longer.
constexpr std::chrono::milliseconds longest_rest{500};
/// While anybody waits: to notice that nobody is at work any more.
constexpr std::chrono::milliseconds look_interval{100};
/// Callers to remember who have nothing open but had of late.
constexpr std::size_t most_lines = 8192;

}  // namespace

Admission::~Admission() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    waits_begin_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Admission::open() {
    thread_ = std::thread([this] { run(); });
}

void Admission::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (turns_.empty()) waits_begin_.wait(lock);
        else waits_begin_.wait_until(lock, hand_out_again(Clock::now()));
    }
}

Admission::Clock::time_point Admission::reassess(Clock::time_point now) {
    std::lock_guard lock(mutex_);
    return hand_out_again(now);
}

Admission::Clock::time_point Admission::hand_out_again(Clock::time_point now) {
    hand_out(now);
    auto next = now + look_interval;
    for (const auto until : rests_)
        if (until > now) next = std::min(next, until);
    return next;
}

void Admission::set(const Settings& settings) {
    std::lock_guard lock(mutex_);
    settings_ = settings;
}

void Admission::Line::count(Clock::time_point now) {
    open.set(static_cast<double>(running + waiting), now);
    at_work.set(static_cast<double>(running), now);
}

std::list<Admission::Place*>::iterator Admission::Queue::end_of(bool let_in) {
    if (!let_in) return waiting.end();
    return std::ranges::find_if(waiting, [](const Place* each) { return !each->let_in_; });
}

Admission::Lines::pointer Admission::line_of(const std::string& principal) {
    if (lines_.size() >= most_lines)
        std::erase_if(lines_, [](const auto& each) { return each.second.idle(); });
    const auto [at, added] = lines_.try_emplace(principal);
    Line& line = at->second;
    if (added) {
        line.id = std::hash<std::string>{}(principal);
        line.queues[0] = {.line = &line, .slow = false};
        line.queues[1] = {.line = &line, .slow = true};
    }
    return &*at;
}

/// Somebody else is at work who has neither slow requests nor many open.
bool Admission::holds_up(const Line& line, Clock::time_point now) const {
    return recent_.anybody_but(line.id, now - beside);
}

/// Of a kind that takes long, or of a caller who has many open and holds up another.
bool Admission::few_at_a_time(const Queue& queue, Clock::time_point now) const {
    return queue.slow ||
           (queue.line->open.at(now) > settings_.many_open && holds_up(*queue.line, now));
}

/// Beside those who are held up: half as many as usual, and with rests between them.
bool Admission::background_is_full(const Line& line, Clock::time_point now) const {
    const auto most = settings_.background;
    if (!holds_up(line, now)) return background_ >= most;
    const auto resting = std::ranges::count_if(rests_, [&](auto until) { return until > now; });
    return background_ + static_cast<std::size_t>(resting) >= (most + 1) / 2;
}

/// A room in the background was left.
void Admission::rest(Clock::duration took, Clock::time_point now) {
    std::erase_if(rests_, [&](auto until) { return until <= now; });
    const auto rest = std::chrono::duration_cast<Clock::duration>(took * settings_.rest);
    if (rests_.size() < settings_.background)
        rests_.push_back(now + std::min<Clock::duration>(rest, longest_rest));
}

/// More than one of a caller, with a share of half of the workers: as many as are free.
bool Admission::fits(const Queue& queue, const std::string& org, Clock::time_point now) const {
    if (closed_) return true;
    if (!org.empty()) {
        const auto of_org = running_of_org_.find(org);
        if (of_org != running_of_org_.end() && of_org->second >= settings_.per_workspace)
            return false;
    }
    if (few_at_a_time(queue, now) && background_is_full(*queue.line, now)) return false;
    const Line& line = *queue.line;
    if (line.running == 0) return true;
    if (line.running >= settings_.per_principal) return false;
    const auto free = settings_.workers - std::min(running_, settings_.workers);
    const auto others = settings_.workers - std::min(settings_.per_principal, settings_.workers);
    return line.running * others < settings_.per_principal * free;
}

Admission::Verdict Admission::enter(Place& place, const Request& request, Clock::time_point now) {
    std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::running) return Verdict::run;
    if (place.state_ == Place::State::waiting) return Verdict::wait;
    place.admission_ = this;
    place.line_ = line_of(request.principal);
    place.org_ = request.org ? request.org->str() : std::string();
    place.known_ = request.known;
    place.let_in_ = request.let_in;
    place.pace_ = Paces::key(request.principal, request.kind);
    place.slow_ = paces_.slow(place.pace_, settings_.slow_from);
    Line& line = place.line_->second;
    Queue& queue = line.queue(place.slow_);
    if (request.resumed || (queue.waiting.empty() && fits(queue, place.org_, now))) {
        start(place, now);
        return Verdict::run;
    }
    const bool full = waiting_ >= settings_.waiting;
    const bool full_for_one = line.waiting >= settings_.waiting_of_one ||
                              line.bytes + request.bytes > settings_.bytes_of_one;
    if ((full || full_for_one) && !request.let_in) {
        end(place, now);
        return full_for_one ? Verdict::too_many : Verdict::too_many_of_all;
    }
    if (turns_.empty()) waits_begin_.notify_one();
    if (queue.waiting.empty()) queue.turn = turns_.insert(turns_.end(), &queue);
    place.at_ = queue.waiting.insert(queue.end_of(request.let_in), &place);
    place.state_ = Place::State::waiting;
    place.bytes_ = request.bytes;
    place.resume_ = request.resume;
    line.bytes += place.bytes_;
    ++line.waiting;
    ++waiting_;
    line.count(now);
    return Verdict::wait;
}

void Admission::start(Place& place, Clock::time_point now) {
    Line& line = place.line_->second;
    place.background_ = few_at_a_time(line.queue(place.slow_), now);
    if (place.background_) ++background_;
    else if (place.known_ && line.open.at(now) <= settings_.many_open) recent_.note(line.id, now);
    place.state_ = Place::State::running;
    place.started_ = now;
    ++line.running;
    if (!place.org_.empty()) ++running_of_org_[place.org_];
    ++running_;
    line.count(now);
}

/// It no longer runs.
void Admission::stop(Place& place, Clock::time_point now) {
    --place.line_->second.running;
    if (const auto of_org = running_of_org_.find(place.org_); of_org != running_of_org_.end())
        if (--of_org->second == 0) running_of_org_.erase(of_org);
    --running_;
    if (place.background_) {
        --background_;
        rest(now - place.started_, now);
    }
    paces_.note(place.pace_, now - place.started_, settings_.slow_from);
}

/// Out of its line, in which it waits.
void Admission::take_out(Place& place) {
    Line& line = place.line_->second;
    Queue& queue = line.queue(place.slow_);
    queue.waiting.erase(place.at_);
    line.bytes -= place.bytes_;
    --line.waiting;
    --waiting_;
    if (queue.waiting.empty()) turns_.erase(queue.turn);
}

void Admission::end(Place& place, Clock::time_point now) {
    place.state_ = Place::State::away;
    Line& line = place.line_->second;
    line.count(now);
    if (line.idle() && line.open.at(now) < hardly) lines_.erase(lines_.find(place.line_->first));
    place.line_ = nullptr;
}

void Admission::leave(Place& place, Clock::time_point now) {
    std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::away) return;
    if (place.state_ == Place::State::waiting) take_out(place);
    else stop(place, now);
    end(place, now);
    hand_out(now);
}

/// Of the queues whose first may run: the one whose caller had the least of late.
Admission::Queue* Admission::next(Clock::time_point now) {
    Queue* best = nullptr;
    double least = 0;
    for (Queue* each : turns_) {
        if (!fits(*each, each->waiting.front()->org_, now)) continue;
        const double had = each->line->at_work.at(now);
        if (best && had >= least) continue;
        best = each;
        least = had;
    }
    return best;
}

void Admission::hand_out(Clock::time_point now) {
    while (running_ < settings_.workers || closed_) {
        Queue* queue = next(now);
        if (!queue) return;
        turns_.splice(turns_.end(), turns_, queue->turn);
        Place& first = *queue->waiting.front();
        take_out(first);
        start(first, now);
        first.resume_();
    }
}

void Admission::close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    hand_out(Clock::now());
}

Admission::Load Admission::load() const {
    std::lock_guard lock(mutex_);
    return {running_, background_, waiting_};
}

}  // namespace svc::core

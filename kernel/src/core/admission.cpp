#include "core/admission.hpp"

#include <algorithm>

namespace svc::core {

void Admission::set(const Settings& settings) {
    std::lock_guard lock(mutex_);
    settings_ = settings;
}

/// Whoever has none running may have one, unless it is slow. More than one, with a share of half of
/// the workers: as many as are free; and while others work too, no more than the processors take.
bool Admission::fits(const Queue& queue, const std::string& org) const {
    if (closed_) return true;
    if (!org.empty()) {
        const auto of_org = running_of_org_.find(org);
        if (of_org != running_of_org_.end() && of_org->second >= settings_.per_workspace)
            return false;
    }
    if (queue.slow && slow_running_ >= settings_.slow) return false;
    const Line& line = *queue.line;
    if (line.running == 0) return true;
    if (line.running >= settings_.per_principal) return false;
    if (callers_ > 1 && running_ >= settings_.crowd) return false;
    const auto free = settings_.workers - std::min(running_, settings_.workers);
    const auto others = settings_.workers - std::min(settings_.per_principal, settings_.workers);
    return line.running * others < settings_.per_principal * free;
}

Admission::Verdict Admission::enter(Place& place, const Request& request) {
    std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::running) return Verdict::run;
    if (place.state_ == Place::State::waiting) return Verdict::wait;
    place.admission_ = this;
    const auto [at, added] = lines_.try_emplace(request.principal);
    place.line_ = &*at;
    place.org_ = request.org ? request.org->str() : std::string();
    place.pace_ = Paces::key(request.principal, request.kind);
    place.slow_ = paces_.slow(place.pace_, settings_.slow_from);
    Line& line = at->second;
    if (added) line.queues[0] = {.line = &line}, line.queues[1] = {.line = &line, .slow = true};
    Queue& queue = line.queue(place.slow_);
    if (request.resumed || (queue.waiting.empty() && fits(queue, place.org_))) {
        start(place);
        return Verdict::run;
    }
    const bool full = waiting_ >= settings_.waiting;
    const bool full_for_one = line.waiting >= settings_.waiting_of_one ||
                              line.bytes + request.bytes > settings_.bytes_of_one;
    if (full || full_for_one) {
        end(place);
        return full_for_one ? Verdict::too_many : Verdict::too_many_of_all;
    }
    if (queue.waiting.empty()) queue.turn = turns_.insert(turns_.end(), &queue);
    place.at_ = queue.waiting.insert(queue.waiting.end(), &place);
    place.state_ = Place::State::waiting;
    place.bytes_ = request.bytes;
    place.resume_ = request.resume;
    line.bytes += place.bytes_;
    ++line.waiting;
    ++waiting_;
    return Verdict::wait;
}

void Admission::start(Place& place) {
    place.state_ = Place::State::running;
    place.started_ = Clock::now();
    if (++place.line_->second.running == 1) ++callers_;
    if (!place.org_.empty()) ++running_of_org_[place.org_];
    ++running_;
    if (place.slow_) ++slow_running_;
}

/// It no longer runs.
void Admission::stop(Place& place, Clock::time_point now) {
    if (--place.line_->second.running == 0) --callers_;
    if (const auto of_org = running_of_org_.find(place.org_); of_org != running_of_org_.end())
        if (--of_org->second == 0) running_of_org_.erase(of_org);
    --running_;
    if (place.slow_) --slow_running_;
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

void Admission::end(Place& place) {
    place.state_ = Place::State::away;
    const Line& line = place.line_->second;
    if (line.running == 0 && line.waiting == 0) lines_.erase(lines_.find(place.line_->first));
    place.line_ = nullptr;
}

void Admission::leave(Place& place, Clock::time_point now) {
    std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::away) return;
    if (place.state_ == Place::State::waiting) take_out(place);
    else stop(place, now);
    end(place);
    hand_out();
}

/// Gives each queue a turn, again and again while somebody gets in.
void Admission::hand_out() {
    for (bool any = true; any;) {
        any = false;
        for (std::size_t left = turns_.size(); left > 0; --left) {
            if (running_ >= settings_.workers && !closed_) return;
            Queue& queue = *turns_.front();
            turns_.splice(turns_.end(), turns_, turns_.begin());
            Place& first = *queue.waiting.front();
            if (!fits(queue, first.org_)) continue;
            take_out(first);
            start(first);
            first.resume_();
            any = true;
        }
    }
}

void Admission::close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    hand_out();
}

Admission::Load Admission::load() const {
    std::lock_guard lock(mutex_);
    return {running_, slow_running_, waiting_};
}

}  // namespace svc::core

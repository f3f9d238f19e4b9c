#include "core/admission.hpp"

#include <algorithm>

namespace svc::core {

void Admission::set(const Settings& settings) {
    std::lock_guard lock(mutex_);
    settings_ = settings;
}

/// With a share of half of the workers: as many as are free.
bool Admission::fits(const Line& line, const std::string& org) const {
    if (closed_) return true;
    if (!org.empty()) {
        const auto of_org = running_of_org_.find(org);
        if (of_org != running_of_org_.end() && of_org->second >= settings_.per_workspace)
            return false;
    }
    if (line.running == 0) return true;
    if (line.running >= settings_.per_principal) return false;
    const auto free = settings_.workers - std::min(running_, settings_.workers);
    const auto others = settings_.workers - std::min(settings_.per_principal, settings_.workers);
    return line.running * others < settings_.per_principal * free;
}

Admission::Verdict Admission::enter(Place& place, const Request& request) {
    std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::running) return Verdict::run;
    if (place.state_ == Place::State::waiting) return Verdict::wait;
    place.admission_ = this;
    place.line_ = &*lines_.try_emplace(request.principal).first;
    place.org_ = request.org ? request.org->str() : std::string();
    Line& line = place.line_->second;
    if (request.resumed || (line.waiting.empty() && fits(line, place.org_))) {
        start(place);
        return Verdict::run;
    }
    const bool full = waiting_ >= settings_.waiting;
    const bool full_for_one = line.waiting.size() >= settings_.waiting_of_one ||
                              line.bytes + request.bytes > settings_.bytes_of_one;
    if (full || full_for_one) {
        end(place);
        return full_for_one ? Verdict::too_many : Verdict::too_many_of_all;
    }
    if (line.waiting.empty()) line.turn = turns_.insert(turns_.end(), &line);
    place.at_ = line.waiting.insert(line.waiting.end(), &place);
    place.state_ = Place::State::waiting;
    place.bytes_ = request.bytes;
    place.resume_ = request.resume;
    line.bytes += place.bytes_;
    ++waiting_;
    return Verdict::wait;
}

void Admission::start(Place& place) {
    place.state_ = Place::State::running;
    ++place.line_->second.running;
    if (!place.org_.empty()) ++running_of_org_[place.org_];
    ++running_;
}

/// Out of its line, in which it waits.
void Admission::take_out(Place& place) {
    Line& line = place.line_->second;
    line.waiting.erase(place.at_);
    line.bytes -= place.bytes_;
    --waiting_;
    if (line.waiting.empty()) turns_.erase(line.turn);
}

void Admission::end(Place& place) {
    place.state_ = Place::State::away;
    Line& line = place.line_->second;
    if (line.running == 0 && line.waiting.empty()) lines_.erase(lines_.find(place.line_->first));
    place.line_ = nullptr;
}

void Admission::leave(Place& place) {
    std::lock_guard lock(mutex_);
    if (place.state_ == Place::State::away) return;
    if (place.state_ == Place::State::waiting) take_out(place);
    else {
        --place.line_->second.running;
        --running_;
        if (const auto of_org = running_of_org_.find(place.org_); of_org != running_of_org_.end())
            if (--of_org->second == 0) running_of_org_.erase(of_org);
    }
    end(place);
    hand_out();
}

/// Gives each line a turn, again and again while somebody gets in.
void Admission::hand_out() {
    for (bool any = true; any;) {
        any = false;
        for (std::size_t left = turns_.size(); left > 0; --left) {
            if (running_ >= settings_.workers && !closed_) return;
            Line& line = *turns_.front();
            turns_.splice(turns_.end(), turns_, turns_.begin());
            Place& first = *line.waiting.front();
            if (!fits(line, first.org_)) continue;
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
    return {running_, waiting_};
}

}  // namespace svc::core

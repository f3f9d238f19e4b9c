// What became of what was sent: it is written down, and an endpoint that fails for long is judged.

#include "modules/webhooks/sender.hpp"

#include <Poco/Logger.h>

namespace svc::webhooks {

namespace {

Chance chance() { return static_cast<double>(random_bits() >> 11) * 0x1p-53; }

}  // namespace

/// What the lines are like afterwards, on copies: what a failed transaction did not write down is
/// settled once more.
struct Sender::Settlement {
    std::map<LineKey, Line> after;
    std::map<LineKey, Settled> settled;
    std::map<LineKey, std::string> gone, why;  ///< what to tell of endpoints that fail

    void add(const Line& before, const Finished& finished) {
        Line& line = after.emplace(finished.line, before).first->second;
        Settled& into = settled[finished.line];
        if (finished.lost) {
            into.attempts.push_back(Line::give_up(finished.delivery, finished.outcome.error));
            return;
        }
        const std::int64_t failures = line.consecutive_failures;
        into.attempts.push_back(line.settle(finished.delivery, finished.outcome, chance()));
        const bool failed = line.consecutive_failures > failures;
        (failed ? into.failed : into.succeeded) = true;
        if (failed) why[finished.line] = *into.attempts.back().attempts.back().error;
        if (finished.outcome.status == 410) gone[finished.line] = "Its endpoint answered 410 Gone.";
    }
    std::vector<Settled> all() {
        std::vector<Settled> out;
        for (auto& [key, each] : settled) {
            each.line = &after.at(key);
            out.push_back(each);
        }
        return out;
    }
};

void Sender::settle() {
    if (unsettled_.empty()) return;
    Settlement settlement;
    for (const Finished& each : unsettled_)
        if (const Line* line = line_of(each)) settlement.add(*line, each);
    const auto all = settlement.all();
    std::map<LineKey, Failing> failing;
    transact([&](Tx& tx) { failing = write(tx, lease_, all); });
    for (const Finished& each : unsettled_) {
        --in_flight_of_[each.line.org_id];
        --counts_.in_flight;
        const bool good = each.outcome.status >= 200 && each.outcome.status < 300;
        ++(good ? counts_.succeeded : counts_.failed);
        if (Line* line = line_of(each)) take_note(*line, settlement.after.at(each.line), each);
    }
    unsettled_.clear();
    std::erase_if(in_flight_of_, [](const auto& each) { return each.second <= 0; });
    try {
        judge(settlement, failing);
    } catch (const std::exception& problem) {  // the next failure brings it up again
        Poco::Logger::get("webhooks")
            .error(std::string("nobody was told of an endpoint that fails: ") + problem.what());
    }
}

/// The line that the delivery is under way for; none when its lease was lost meanwhile.
Line* Sender::line_of(const Finished& finished) {
    const auto found = lines_.find(finished.line);
    const bool ours = found != lines_.end() && found->second.busy.contains(finished.delivery.id);
    return ours ? &found->second : nullptr;
}

void Sender::take_note(Line& line, const Line& after, const Finished& finished) {
    line.consecutive_failures = after.consecutive_failures;
    line.proven = after.proven;
    line.rest = after.rest;
    line.busy.erase(finished.delivery.id);
    line.active_at = Clock::now();
    --line.in_flight;
    if (line.rest) line.waiting.clear();
}

void Sender::disable(const LineKey& key, const std::string& reason) {
    webhooks::disable(kernel_, key.org_id, key.webhook_id, reason);
    if (const auto line = lines_.find(key); line != lines_.end()) {
        line->second.open = false;
        line->second.waiting.clear();
    }
}

void Sender::judge(const Settlement& settlement, const std::map<LineKey, Failing>& failing) {
    for (const auto& [key, reason] : settlement.gone) disable(key, reason);
    for (const auto& [key, each] : failing) {
        const auto why = settlement.why.find(key);
        if (settlement.gone.contains(key) || why == settlement.why.end()) continue;
        const std::chrono::seconds since(each.seconds);
        const std::chrono::seconds most = std::chrono::days(settings_.disable_days);
        if (is_gone(settlement.after.at(key).consecutive_failures, since, most))
            disable(
                key,
                "Its endpoint has taken nothing for " + std::to_string(settings_.disable_days) +
                    " days: " + why->second + "."
            );
        else if (const int due = alerts_due(since); due > each.alerts)
            tell_of_failing(kernel_, key.org_id, key.webhook_id, due, settings_.disable_days);
    }
}

}  // namespace svc::webhooks

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
    Written written;

    void add(const Line& before, std::int64_t epoch, const Finished& finished) {
        Line& line = after.emplace(finished.line, before).first->second;
        Settled& into = settled[finished.line];
        if (finished.lost) {
            into.attempts.push_back(Line::give_up(finished.delivery, finished.outcome.error));
            return;
        }
        if (finished.epoch != epoch) {
            into.attempts.push_back(Line::settle_stale(finished.delivery, finished.outcome));
            return;
        }
        into.attempts.push_back(line.settle(finished.delivery, finished.outcome, chance()));
        if (is_success(finished.outcome)) {
            into.succeeded = true;
            return;
        }
        into.failed = true;
        why[finished.line] = *into.attempts.back().attempts.back().error;
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

/// A failure is held against what is there now: whoever changes that waits for this transaction, or
/// is seen by it. Successes alone need no lock, for one of another epoch is not written to the
/// endpoint anyway. All are locked or none, in one order.
Sender::Settlement Sender::settlement_of(Tx& tx) {
    std::set<LineKey> lines;
    bool failed = false;
    for (const Finished& each : unsettled_) {
        if (!line_of(each)) continue;
        lines.insert(each.line);
        failed |= !is_success(each.outcome);
    }
    std::map<LineKey, std::int64_t> epochs;
    if (failed) epochs = lock_epochs(tx, lease_, lines);
    Settlement out;
    for (const Finished& each : unsettled_) {
        const Line* line = line_of(each);
        if (!line) continue;
        const auto epoch = epochs.find(each.line);
        out.add(*line, epoch == epochs.end() ? line->epoch : epoch->second, each);
    }
    return out;
}

void Sender::settle() {
    if (unsettled_.empty()) return;
    Settlement settlement;
    transact([&](Tx& tx) {
        settlement = settlement_of(tx);
        settlement.written = write(tx, lease_, settlement.all());
    });
    for (const Finished& each : unsettled_) {
        --in_flight_of_[each.line.org_id];
        --counts_.in_flight;
        ++(is_success(each.outcome) ? counts_.succeeded : counts_.failed);
        if (Line* line = line_of(each)) take_note(*line, settlement.after.at(each.line), each);
    }
    unsettled_.clear();
    std::erase_if(in_flight_of_, [](const auto& each) { return each.second <= 0; });
    for (const LineKey& each : settlement.written.asked_again)
        if (const auto line = lines_.find(each); line != lines_.end()) put_back(line->second);
    try {
        judge(settlement);
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

void Sender::disable(const Line& line, const std::string& reason) {
    webhooks::disable(kernel_, line.org_id, line.webhook_id, line.epoch, reason);
    if (const auto found = lines_.find(key_of(line)); found != lines_.end())
        put_back(found->second);
}

void Sender::judge(const Settlement& settlement) {
    const auto line_at = [&](const LineKey& key) -> const Line& {
        return settlement.after.at(key);
    };
    for (const auto& [key, reason] : settlement.gone) disable(line_at(key), reason);
    for (const auto& [key, each] : settlement.written.failing) {
        const auto why = settlement.why.find(key);
        if (settlement.gone.contains(key) || why == settlement.why.end()) continue;
        const Line& line = line_at(key);
        const std::chrono::seconds since(each.seconds);
        const std::chrono::seconds most = std::chrono::days(settings_.disable_days);
        if (is_gone(line.consecutive_failures, since, most))
            disable(
                line,
                "Its endpoint has taken nothing for " + std::to_string(settings_.disable_days) +
                    " days: " + why->second + "."
            );
        else if (const int due = alerts_due(since); due > each.alerts)
            tell_of_failing(
                kernel_, key.org_id, key.webhook_id, line.epoch, due, settings_.disable_days
            );
    }
}

}  // namespace svc::webhooks

#include "modules/feedback/lib/surveys.hpp"

namespace svc::feedback {

namespace {

using enum SurveyReason;

Timestamp after(const Timestamp& time, std::chrono::microseconds span) {
    return {time.micros + span.count()};
}

class Judge {
public:
    Judge(SurveyKey survey, const SurveyFacts& facts, const SurveyRules& rules)
        : facts_(facts),
          rules_(rules),
          last_(facts.responses.at(static_cast<std::size_t>(survey))) {}

    SurveyVerdict nps() const {
        if (const auto until = resting(rules_.repeat)) return responded(until);
        if (const auto since = after(facts_.here_since, rules_.account_age); facts_.now < since)
            return {too_new, since};
        if (facts_.active_days < rules_.active_days) return {low_activity, {}};
        return unless_paused();
    }

    /// About each report once, while it is fresh.
    SurveyVerdict csat() const {
        const auto& closed = facts_.report_closed_at;
        if (!closed || after(*closed, survey_fresh) <= facts_.now) return {not_triggered, {}};
        if (last_ && last_->time >= *closed) return responded({});
        return unless_paused();
    }

    SurveyVerdict onboarding() const {
        if (last_) return responded({});
        if (const auto from = after(facts_.here_since, onboarding_from); facts_.now < from)
            return {too_new, from};
        if (after(facts_.here_since, onboarding_until) <= facts_.now) return {not_triggered, {}};
        if (facts_.active_days < onboarding_active_days) return {low_activity, {}};
        return unless_paused();
    }

    SurveyVerdict agent_quality() const {
        const auto& finished = facts_.last_finished_at;
        if (!finished || after(*finished, survey_fresh) <= facts_.now) return {not_triggered, {}};
        if (const auto until = resting(rules_.repeat)) return responded(until);
        if (facts_.finished_cards < rules_.finished_cards) return {low_activity, {}};
        return unless_paused();
    }

private:
    std::optional<Timestamp> resting(std::chrono::days span) const {
        if (!last_) return std::nullopt;
        const auto until = after(last_->time, span);
        return facts_.now < until ? std::optional(until) : std::nullopt;
    }
    SurveyVerdict responded(const std::optional<Timestamp>& until) const {
        const bool answered = last_->outcome == SurveyOutcome::answered;
        return {answered ? already_answered : frequency_cap, until};
    }
    /// It would ask, if no other had asked just now.
    SurveyVerdict unless_paused() const {
        if (!facts_.rested_since) return {eligible, {}};
        const auto until = after(*facts_.rested_since, rules_.pause);
        if (facts_.now < until) return {frequency_cap, until};
        return {eligible, {}};
    }

    const SurveyFacts& facts_;
    const SurveyRules& rules_;
    const std::optional<LastResponse>& last_;
};

}  // namespace

SurveyVerdict judge(SurveyKey survey, const SurveyFacts& facts, const SurveyRules& rules) {
    if (!rules.on || !facts.asks_people) return {not_triggered, {}};
    if (facts.opted_out) return {opted_out, {}};
    if (!facts.in_workspace && survey != SurveyKey::csat) return {no_workspace, {}};
    const Judge judge(survey, facts, rules);
    switch (survey) {
        case SurveyKey::nps: return judge.nps();
        case SurveyKey::csat: return judge.csat();
        case SurveyKey::onboarding: return judge.onboarding();
        case SurveyKey::agent_quality: break;
    }
    return judge.agent_quality();
}

}  // namespace svc::feedback

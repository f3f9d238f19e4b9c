#pragma once

#include "svc/types.hpp"

#include <array>
#include <chrono>

/// Whom which survey may interrupt now: worked out of what is known of one person, no database.
namespace svc::feedback {

enum class SurveyKey { nps, csat, onboarding, agent_quality };
BOOST_DESCRIBE_ENUM(SurveyKey, nps, csat, onboarding, agent_quality)
inline constexpr std::array all_surveys{
    SurveyKey::nps, SurveyKey::csat, SurveyKey::onboarding, SurveyKey::agent_quality
};

enum class SurveyReason {
    eligible,
    no_workspace,
    too_new,
    low_activity,
    frequency_cap,
    already_answered,
    opted_out,
    not_triggered,
};
BOOST_DESCRIBE_ENUM(
    SurveyReason,
    eligible,
    no_workspace,
    too_new,
    low_activity,
    frequency_cap,
    already_answered,
    opted_out,
    not_triggered
)

enum class SurveyOutcome { answered, dismissed };
BOOST_DESCRIBE_ENUM(SurveyOutcome, answered, dismissed)

/// The scores that a survey takes.
struct SurveyScale {
    std::int64_t lowest, highest;
};
constexpr SurveyScale scale_of(SurveyKey survey) {
    return survey == SurveyKey::nps ? SurveyScale{0, 10} : SurveyScale{1, 5};
}

/// What the settings say.
struct SurveyRules {
    bool on = true;
    std::chrono::days pause{14}, repeat{90}, account_age{14};
    std::int64_t active_days = 5, finished_cards = 10;
};

/// csat asks for so long about a report that was closed, and agent_quality about finished work.
inline constexpr std::chrono::days survey_fresh{14};
/// onboarding asks between the first and the second of these, once something was done on so many
/// days.
inline constexpr std::chrono::days onboarding_from{3}, onboarding_until{30};
inline constexpr std::int64_t onboarding_active_days = 2;

struct LastResponse {
    SurveyOutcome outcome{};
    Timestamp time;
};

/// What is known of one person in one workspace, or in none.
struct SurveyFacts {
    Timestamp now;
    bool asks_people = true;  ///< false for an agent: nobody asks software
    bool in_workspace = false;
    bool opted_out = false;
    Timestamp here_since;  ///< the later of the account's beginning and the membership's
    std::int64_t active_days = 0;
    std::int64_t finished_cards = 0;
    std::optional<Timestamp> last_finished_at, report_closed_at;
    std::optional<Timestamp> rested_since;                 ///< the last response to any survey
    std::array<std::optional<LastResponse>, 4> responses;  ///< the last to each, by its SurveyKey
};

struct SurveyVerdict {
    SurveyReason reason{};
    std::optional<Timestamp> next_eligible_at;  ///< when time alone may change it, as far as known
};

SurveyVerdict judge(SurveyKey survey, const SurveyFacts& facts, const SurveyRules& rules);

}  // namespace svc::feedback

#pragma once

#include "modules/feedback/lib/surveys.hpp"
#include "svc/record.hpp"

namespace svc::feedback {

struct Settings {
    static constexpr std::string_view name = "feedback.Settings";  ///< offered to the operations

    std::int64_t reports_an_hour = 20;
    std::int64_t screenshots_an_hour = 20;
    std::int64_t screenshot_commits_an_hour = 60;
    bool surveys = true;
    std::int64_t survey_pause_days = 14;
    std::int64_t survey_repeat_days = 90;
    std::int64_t survey_account_days = 14;
    std::int64_t survey_active_days = 5;
    std::int64_t survey_finished_cards = 10;

    SurveyRules survey_rules() const {
        return {
            .on = surveys,
            .pause = std::chrono::days(survey_pause_days),
            .repeat = std::chrono::days(survey_repeat_days),
            .account_age = std::chrono::days(survey_account_days),
            .active_days = survey_active_days,
            .finished_cards = survey_finished_cards,
        };
    }
};
SVC_SHARED_RECORD(
    Settings,
    (reports_an_hour,
     "Reports that somebody may send within an hour, then 429; those that are refused count.",
     range(1, 10'000),
     defaulted),
    (screenshots_an_hour,
     "Uploads of screenshots that somebody may create within an hour, then 429.",
     range(1, 10'000),
     defaulted),
    (screenshot_commits_an_hour,
     "Commits of screenshots that somebody may ask for within an hour, then 429.",
     range(1, 10'000),
     defaulted),
    (surveys, "false: no survey asks anybody.", defaulted),
    (survey_pause_days,
     "After any survey was answered or dismissed, the same person is asked nothing for so long.",
     range(1, 3'650),
     defaulted),
    (survey_repeat_days,
     "The surveys that are asked again (nps, agent_quality) are asked after so long.",
     range(1, 3'650),
     defaulted),
    (survey_account_days,
     "How old account and membership are before nps asks.",
     range(0, 3'650),
     defaulted),
    (survey_active_days,
     "On how many days somebody has done something in the workspace before nps asks.",
     range(0, 3'650),
     defaulted),
    (survey_finished_cards,
     "How many cards of work queues somebody or somebody's agents have completed in the workspace "
     "before agent_quality asks.",
     range(1, 1'000'000),
     defaulted)
);

}  // namespace svc::feedback

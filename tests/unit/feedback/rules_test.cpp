#include "modules/feedback/lib/surveys.hpp"
#include "modules/lib/printable/printable.hpp"

#include <gtest/gtest.h>

/// Whom a survey asks, worked out at moments that the test chooses.
namespace svc::test {
namespace {

using namespace feedback;
using enum SurveyKey;
using enum SurveyReason;
using std::chrono::days;
using std::chrono::hours;

constexpr std::int64_t noon = 1'790'000'000'000'000;

Timestamp ago(std::chrono::microseconds span) { return {noon - span.count()}; }
Timestamp in(std::chrono::microseconds span) { return {noon + span.count()}; }

/// Somebody whom every survey would ask but onboarding, which is for newcomers.
SurveyFacts regular() {
    SurveyFacts facts;
    facts.now = {noon};
    facts.in_workspace = true;
    facts.here_since = ago(days(100));
    facts.active_days = 50;
    facts.finished_cards = 100;
    facts.last_finished_at = ago(days(1));
    facts.report_closed_at = ago(days(1));
    return facts;
}
SurveyFacts newcomer() {
    SurveyFacts facts = regular();
    facts.here_since = ago(days(10));
    return facts;
}
LastResponse answered(std::chrono::microseconds span) {
    return {SurveyOutcome::answered, ago(span)};
}
LastResponse dismissed(std::chrono::microseconds span) {
    return {SurveyOutcome::dismissed, ago(span)};
}
std::optional<LastResponse>& last(SurveyFacts& facts, SurveyKey survey) {
    return facts.responses.at(static_cast<std::size_t>(survey));
}
SurveyReason reason(SurveyKey survey, const SurveyFacts& facts, const SurveyRules& rules = {}) {
    return judge(survey, facts, rules).reason;
}

TEST(SurveyRules, ARegularIsAskedAllButWhatNewcomersAre) {
    EXPECT_EQ(reason(nps, regular()), eligible);
    EXPECT_EQ(reason(csat, regular()), eligible);
    EXPECT_EQ(reason(agent_quality, regular()), eligible);
    EXPECT_EQ(reason(onboarding, regular()), not_triggered);
    EXPECT_EQ(reason(onboarding, newcomer()), eligible);
}

TEST(SurveyRules, NobodyIsAskedWhoOptedOutOrIsSoftwareOrWhereSurveysAreOff) {
    SurveyFacts facts = newcomer();
    facts.opted_out = true;
    for (const SurveyKey each : all_surveys) EXPECT_EQ(reason(each, facts), opted_out);
    facts.asks_people = false;
    for (const SurveyKey each : all_surveys) EXPECT_EQ(reason(each, facts), not_triggered);
    for (const SurveyKey each : all_surveys)
        EXPECT_EQ(reason(each, newcomer(), {.on = false}), not_triggered);
}

TEST(SurveyRules, WithoutAWorkspaceOnlyAReportIsAskedAbout) {
    SurveyFacts facts = newcomer();
    facts.in_workspace = false;
    EXPECT_EQ(reason(nps, facts), no_workspace);
    EXPECT_EQ(reason(onboarding, facts), no_workspace);
    EXPECT_EQ(reason(agent_quality, facts), no_workspace);
    EXPECT_EQ(reason(csat, facts), eligible);
}

TEST(SurveyRules, NpsWaitsUntilOneHasBeenHereForAWhileAndHasDoneSomething) {
    SurveyFacts facts = regular();
    facts.here_since = ago(days(14) - hours(1));
    const auto verdict = judge(nps, facts, {});
    EXPECT_EQ(verdict.reason, too_new);
    EXPECT_EQ(verdict.next_eligible_at, in(hours(1)));
    facts.here_since = ago(days(14));
    EXPECT_EQ(reason(nps, facts), eligible);
    facts.active_days = 4;
    EXPECT_EQ(reason(nps, facts), low_activity);
    EXPECT_EQ(reason(nps, facts, {.active_days = 4}), eligible);
}

TEST(SurveyRules, WhatWasAnsweredIsAskedAgainAfterAWhile) {
    for (const SurveyKey each : {nps, agent_quality}) {
        SurveyFacts facts = regular();
        last(facts, each) = answered(days(90) - hours(2));
        const auto verdict = judge(each, facts, {});
        EXPECT_EQ(verdict.reason, already_answered);
        EXPECT_EQ(verdict.next_eligible_at, in(hours(2)));
        last(facts, each) = dismissed(days(89));
        EXPECT_EQ(reason(each, facts), frequency_cap);
        last(facts, each) = answered(days(90));
        EXPECT_EQ(reason(each, facts), eligible);
    }
}

TEST(SurveyRules, AfterAnySurveyAllRestForAWhile) {
    SurveyFacts facts = newcomer();
    facts.here_since = ago(days(20));
    facts.rested_since = ago(days(14) - hours(3));
    for (const SurveyKey each : all_surveys) {
        const auto verdict = judge(each, facts, {});
        EXPECT_EQ(verdict.reason, frequency_cap) << name_of(each);
        EXPECT_EQ(verdict.next_eligible_at, in(hours(3)));
    }
    facts.rested_since = ago(days(14));
    for (const SurveyKey each : all_surveys) EXPECT_EQ(reason(each, facts), eligible);
}

TEST(SurveyRules, CsatAsksOnceAboutAReportThatWasJustClosed) {
    SurveyFacts facts = regular();
    facts.report_closed_at.reset();
    EXPECT_EQ(reason(csat, facts), not_triggered);
    facts.report_closed_at = ago(days(14));
    EXPECT_EQ(reason(csat, facts), not_triggered);
    facts.report_closed_at = ago(days(3));
    EXPECT_EQ(reason(csat, facts), eligible);
    last(facts, csat) = answered(days(2));
    EXPECT_EQ(reason(csat, facts), already_answered);
    last(facts, csat) = dismissed(days(2));
    EXPECT_EQ(reason(csat, facts), frequency_cap);
    last(facts, csat) = answered(days(4));  // about another report
    EXPECT_EQ(reason(csat, facts), eligible);
}

TEST(SurveyRules, OnboardingAsksNewcomersOnce) {
    SurveyFacts facts = newcomer();
    facts.here_since = ago(days(3) - hours(5));
    const auto verdict = judge(onboarding, facts, {});
    EXPECT_EQ(verdict.reason, too_new);
    EXPECT_EQ(verdict.next_eligible_at, in(hours(5)));
    facts.here_since = ago(days(30) - hours(1));
    EXPECT_EQ(reason(onboarding, facts), eligible);
    facts.here_since = ago(days(30));
    EXPECT_EQ(reason(onboarding, facts), not_triggered);
    facts = newcomer();
    facts.active_days = 1;
    EXPECT_EQ(reason(onboarding, facts), low_activity);
    facts.active_days = 2;
    EXPECT_EQ(reason(onboarding, facts), eligible);
    last(facts, onboarding) = answered(days(7));
    EXPECT_EQ(reason(onboarding, facts), already_answered);
    last(facts, onboarding) = dismissed(days(7));
    EXPECT_EQ(reason(onboarding, facts), frequency_cap);
}

TEST(SurveyRules, AgentQualityAsksOnceEnoughWorkWasJustFinished) {
    SurveyFacts facts = regular();
    facts.last_finished_at.reset();
    facts.finished_cards = 0;
    EXPECT_EQ(reason(agent_quality, facts), not_triggered);
    facts.last_finished_at = ago(hours(1));
    facts.finished_cards = 9;
    EXPECT_EQ(reason(agent_quality, facts), low_activity);
    facts.finished_cards = 10;
    EXPECT_EQ(reason(agent_quality, facts), eligible);
    facts.last_finished_at = ago(days(14));
    EXPECT_EQ(reason(agent_quality, facts), not_triggered);
}

TEST(Printable, WhatTerminalsWouldObeyIsLeftOut) {
    EXPECT_EQ(on_one_line("\x1B[2Jgone\x07", 100), " [2Jgone ");
    EXPECT_EQ(on_one_line("a\nb\r\nc", 100), "a b c");
    EXPECT_EQ(on_one_line("x\xC2\x9By", 100), "x y");      // CSI of the second sort
    EXPECT_EQ(on_one_line("x\xE2\x80\xAEy", 100), "x y");  // turns what follows round
    EXPECT_EQ(on_one_line("éé€\xF0\x9F\x98\x80", 100), "éé€\xF0\x9F\x98\x80");
    EXPECT_EQ(on_one_line("ééé", 2), "éé…");
    EXPECT_EQ(on_one_line("ééé", 3), "ééé");
    EXPECT_EQ(indented("a\n\x1B]0;b"), "  a\n   ]0;b");
}

}  // namespace
}  // namespace svc::test

// Surveys: which may interrupt the caller now, and what the caller says to them.

#include "modules/feedback/feedback.hpp"
#include "modules/orgs/api.hpp"

#include <algorithm>

namespace svc::feedback {

namespace {

constexpr Sql find_facts{"feedback.survey_facts", R"(
    SELECT now() AS now, u.created_time,
        coalesce(u.preferences ->> 'surveys_opt_out' = 'true', false) AS opted_out,
        m.joined_at, coalesce(a.active_days, 0)::bigint AS active_days,
        coalesce(a.finished_count, 0) AS finished_count, a.last_finished_at,
        r.since AS rested_since, f.closed_at AS report_closed_at
    FROM users u
    LEFT JOIN memberships m ON m.org_id = $2 AND m.user_id = u.id
    LEFT JOIN survey_activity a ON a.org_id = $2 AND a.user_id = u.id
    LEFT JOIN survey_rests r ON r.user_id = u.id
    LEFT JOIN LATERAL (
        SELECT c.closed_at FROM feedback_reports c
        WHERE c.org_id = $2 AND c.user_id = $1 AND c.closed_at IS NOT NULL
        ORDER BY c.closed_at DESC
        LIMIT 1
    ) f ON true
    WHERE u.id = $1)"};

constexpr Sql last_responses{"feedback.last_responses", R"(
    SELECT DISTINCT ON (s.survey_key) s.survey_key, s.outcome, s.created_time
    FROM survey_responses s
    WHERE s.user_id = $1
    ORDER BY s.survey_key, s.id DESC)"};

// Whoever responds to two surveys at the same moment is heard once.
constexpr Sql insert_response{"feedback.insert_response", R"(
    WITH rest AS (
        INSERT INTO survey_rests AS r (user_id, since) VALUES ($1, now())
        ON CONFLICT (user_id) DO UPDATE SET since = now()
        WHERE r.since + $2::interval <= now()
        RETURNING user_id
    )
    INSERT INTO survey_responses (user_id, survey_key, id, given_in, outcome, score, comment)
    SELECT rest.user_id, $3, $4::uuid, $5::uuid, $6, $7::smallint, $8 FROM rest
    RETURNING created_time)"};

struct Known {
    Timestamp now, created_time;
    bool opted_out = false;
    std::optional<Timestamp> joined_at;
    std::int64_t active_days = 0, finished_count = 0;
    std::optional<Timestamp> last_finished_at, rested_since, report_closed_at;
};
SVC_RECORD(
    Known,
    (now),
    (created_time),
    (opted_out),
    (joined_at),
    (active_days),
    (finished_count),
    (last_finished_at),
    (rested_since),
    (report_closed_at)
);

struct Responded {
    SurveyKey survey_key{};
    SurveyOutcome outcome{};
    Timestamp created_time;
};
SVC_RECORD(Responded, (survey_key), (outcome), (created_time));

SurveyFacts facts_of(Call& call) {
    const Caller& caller = call.caller();
    SurveyFacts facts;
    facts.in_workspace = caller.org_id.has_value();
    auto known = call.tx().later<Known>(find_facts, caller.user_id, org_or_none(caller));
    auto responses = call.tx().later<Responded>(last_responses, caller.user_id);
    const auto row = known.one();
    if (!row) not_found("account");
    facts.now = row->now;
    facts.asks_people = caller.is_person();
    facts.opted_out = row->opted_out;
    facts.here_since = std::max(row->created_time, row->joined_at.value_or(row->created_time));
    facts.active_days = row->active_days;
    facts.finished_cards = row->finished_count;
    facts.last_finished_at = row->last_finished_at;
    facts.report_closed_at = row->report_closed_at;
    facts.rested_since = row->rested_since;
    for (const Responded& each : responses.all())
        facts.responses.at(static_cast<std::size_t>(each.survey_key)) =
            LastResponse{each.outcome, each.created_time};
    return facts;
}

// -------------------------------------------------------------------------------------- read

struct Survey {
    SurveyKey key{};
    bool eligible = false;
    SurveyReason reason{};
    std::optional<Timestamp> next_eligible_at;
};
SVC_RECORD(
    Survey,
    (key, "Which survey it is."),
    (eligible, "Whether it may interrupt you now."),
    (reason, "Why, or why not."),
    (next_eligible_at, "From when on it may, if nothing but time is in the way.")
);

struct SurveyEligibilityResponse {
    Object<"survey_eligibility"> object;
    std::optional<Uuid> org_id;
    Timestamp evaluated_at;
    bool interruptible = false;
    std::vector<Survey> surveys;
};
SVC_RECORD(
    SurveyEligibilityResponse,
    (object, "Always \"survey_eligibility\"."),
    (org_id, "The workspace it is about; null: none."),
    (evaluated_at, "The moment that it holds for."),
    (interruptible, "Whether any survey may interrupt you now."),
    (surveys, "Every survey there is.")
);

SurveyEligibilityResponse get(Call& call, const Nothing&) {
    const SurveyFacts facts = facts_of(call);
    const SurveyRules rules = call.use<Settings>().survey_rules();
    SurveyEligibilityResponse answer;
    answer.org_id = call.caller().org_id;
    answer.evaluated_at = facts.now;
    for (const SurveyKey key : all_surveys) {
        const SurveyVerdict verdict = judge(key, facts, rules);
        const bool eligible = verdict.reason == SurveyReason::eligible;
        answer.surveys.push_back({key, eligible, verdict.reason, verdict.next_eligible_at});
        answer.interruptible |= eligible;
    }
    return answer;
}

const Operation get_my_surveys{
    .name = "get_my_surveys",
    .route = "GET /v1/me/surveys",
    .summary = "Read which surveys may interrupt you now, and why others may not.",
    .description = "Looks at nothing but what is yours. No survey ever asks an agent.",
    .access = Access::me,
    .for_people = true,
    .names_org = true,
    .handler = get,
};

// ----------------------------------------------------------------------------------- respond

struct SurveyResponse {
    Object<"survey_response"> object;
    Uuid id;
    std::optional<Uuid> org_id;
    SurveyKey survey_key{};
    SurveyOutcome outcome{};
    std::optional<std::int64_t> score;
    std::optional<std::string> comment;
    Timestamp created_time;
};
SVC_RECORD(
    SurveyResponse,
    (object, "Always \"survey_response\"."),
    (id, "The response's id."),
    (org_id, "The workspace in which it was given; null: in none."),
    (survey_key, "The survey."),
    (outcome, "What you did with it."),
    (score, "Your score; null when you dismissed it."),
    (comment, "What you said besides."),
    (created_time, "When it was given.")
);

struct Written {
    Timestamp created_time;
};
SVC_RECORD(Written, (created_time));

Failure does_not_ask(SurveyKey survey, SurveyReason why) {
    return Failure(
               Fault::conflict,
               "The survey " + std::string(name_of(survey)) + " does not ask you now."
    )
        .with("reason", "survey_not_eligible")
        .with("survey_reason", std::string(name_of(why)));
}

/// Only what asks takes an answer, so that results are those of who was asked.
SurveyResponse respond(Call& call, SurveyResponse response) {
    const SurveyRules rules = call.use<Settings>().survey_rules();
    const auto verdict = judge(response.survey_key, facts_of(call), rules);
    if (verdict.reason != SurveyReason::eligible)
        throw does_not_ask(response.survey_key, verdict.reason);
    response.id = new_uuid();
    response.org_id = call.caller().org_id;
    const auto written = call.tx().one<Written>(
        insert_response,
        call.caller().user_id,
        std::chrono::seconds(rules.pause),
        response.survey_key,
        response.id,
        response.org_id,
        response.outcome,
        response.score,
        response.comment
    );
    if (!written) throw does_not_ask(response.survey_key, SurveyReason::frequency_cap);
    response.created_time = written->created_time;
    return response;
}

struct AnswerSurveyRequest {
    SurveyKey survey_key{};
    std::int64_t score = 0;
    std::optional<std::string> comment;
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    AnswerSurveyRequest,
    (survey_key, "A survey that get_my_surveys calls eligible."),
    (score, "From 0 to 10 for nps, from 1 to 5 for all others.", range(0, 10)),
    (comment, "What you say besides.", length(0, 2000), trimmed, multiline),
    (org_id, "The workspace it is about; left out: the one you work in.", in_query)
);

SurveyResponse answer(Call& call, const AnswerSurveyRequest& in) {
    const auto scale = scale_of(in.survey_key);
    if (in.score < scale.lowest || in.score > scale.highest)
        throw wrong_field(call, "score", "this survey takes scores from 1 to 5");
    SurveyResponse response;
    response.survey_key = in.survey_key;
    response.outcome = SurveyOutcome::answered;
    response.score = in.score;
    if (in.comment && !in.comment->empty()) response.comment = in.comment;
    return respond(call, std::move(response));
}

const Operation answer_survey{
    .name = "answer_survey",
    .route = "POST /v1/me/surveys/{survey_key}:answer",
    .summary = "Answer a survey that asks you.",
    .description =
        "Afterwards no survey asks for a while. 409, reason `survey_not_eligible`, when it does "
        "not ask you now; `survey_reason` says why.",
    .access = Access::person,
    .guards = {orgs::refuse_reading_tokens},
    .for_people = true,
    .names_org = true,
    .handler = answer,
};

struct DismissSurveyRequest {
    SurveyKey survey_key{};
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    DismissSurveyRequest,
    (survey_key, "A survey that get_my_surveys calls eligible."),
    (org_id, "The workspace it is about; left out: the one you work in.", in_query)
);

SurveyResponse dismiss(Call& call, const DismissSurveyRequest& in) {
    SurveyResponse response;
    response.survey_key = in.survey_key;
    response.outcome = SurveyOutcome::dismissed;
    return respond(call, std::move(response));
}

const Operation dismiss_survey{
    .name = "dismiss_survey",
    .route = "POST /v1/me/surveys/{survey_key}:dismiss",
    .summary = "Dismiss a survey that asks you, without an answer.",
    .description =
        "Afterwards no survey asks for a while, as after an answer. 409, reason "
        "`survey_not_eligible`, when it does not ask you now.",
    .access = Access::person,
    .guards = {orgs::refuse_reading_tokens},
    .for_people = true,
    .names_org = true,
    .handler = dismiss,
};

}  // namespace

void add_surveys(Kernel& kernel) {
    kernel.add(get_my_surveys);
    kernel.add(answer_survey);
    kernel.add(dismiss_survey);
}

}  // namespace svc::feedback

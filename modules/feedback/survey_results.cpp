// `workboard surveys`: what surveys have heard.

#include "modules/feedback/feedback.hpp"
#include "modules/lib/printable/printable.hpp"

#include <cstdio>

namespace svc::feedback {

namespace {

constexpr std::int64_t most_comments = 20;

constexpr Sql count_responses{"feedback.count_responses", R"(
    SELECT survey_key, score::bigint AS score, count(*) AS responses
    FROM survey_responses
    GROUP BY survey_key, score
    ORDER BY survey_key, score)"};

constexpr Sql last_comments{"feedback.last_comments", R"(
    SELECT s.created_time, s.score::bigint AS score, s.comment
    FROM survey_responses s
    WHERE s.survey_key = $1 AND s.comment IS NOT NULL
    ORDER BY s.id DESC
    LIMIT $2)"};

struct Count {
    SurveyKey survey_key{};
    std::optional<std::int64_t> score;  ///< none: dismissed
    std::int64_t responses = 0;
};
SVC_RECORD(Count, (survey_key), (score), (responses));

struct Comment {
    Timestamp created_time;
    std::int64_t score = 0;
    std::string comment;
};
SVC_RECORD(Comment, (created_time), (score), (comment));

constexpr const char* usage = "usage: workboard surveys [nps|csat|onboarding|agent_quality]\n";

struct Totals {
    std::int64_t answered = 0, dismissed = 0, sum = 0, promoters = 0, detractors = 0;
};

Totals totals_of(const std::vector<Count>& counts, SurveyKey survey) {
    Totals totals;
    for (const Count& each : counts) {
        if (each.survey_key != survey) continue;
        if (!each.score) {
            totals.dismissed += each.responses;
            continue;
        }
        totals.answered += each.responses;
        totals.sum += *each.score * each.responses;
        if (*each.score >= 9) totals.promoters += each.responses;
        if (*each.score <= 6) totals.detractors += each.responses;
    }
    return totals;
}

/// Of nps the net promoter score, from -100 to 100; of all else the mean.
void print_totals(SurveyKey survey, const Totals& totals) {
    std::printf(
        "%-14s %6lld answered %6lld dismissed",
        std::string(name_of(survey)).c_str(),
        static_cast<long long>(totals.answered),
        static_cast<long long>(totals.dismissed)
    );
    const auto of_all = static_cast<double>(totals.answered);
    if (totals.answered > 0 && survey == SurveyKey::nps)
        std::printf(
            "   score %+.0f",
            100 * static_cast<double>(totals.promoters - totals.detractors) / of_all
        );
    else if (totals.answered > 0)
        std::printf("   mean %.2f of 5", static_cast<double>(totals.sum) / of_all);
    std::puts("");
}

void print_scores(const std::vector<Count>& counts, SurveyKey survey) {
    for (const Count& each : counts)
        if (each.survey_key == survey && each.score)
            std::printf(
                "  %2lld  %6lld\n",
                static_cast<long long>(*each.score),
                static_cast<long long>(each.responses)
            );
}

int show(Kernel& kernel, const std::optional<SurveyKey>& only) {
    std::vector<Count> counts;
    std::vector<Comment> comments;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        auto counted = tx.later<Count>(count_responses);
        if (only) comments = tx.all<Comment>(last_comments, *only, most_comments);
        counts = counted.all();
    });
    for (const SurveyKey survey : all_surveys)
        if (!only || *only == survey) print_totals(survey, totals_of(counts, survey));
    if (only) print_scores(counts, *only);
    for (const Comment& each : comments)
        std::printf(
            "%s  %lld\n%s\n",
            each.created_time.str().c_str(),
            static_cast<long long>(each.score),
            indented(each.comment).c_str()
        );
    return 0;
}

int run(Kernel& kernel, std::span<const std::string> words) {
    if (words.empty()) return show(kernel, std::nullopt);
    if (words.size() == 1)
        if (const auto survey = enumerator_of<SurveyKey>(words[0])) return show(kernel, survey);
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace

Command surveys_command(Kernel& kernel) {
    return {
        .name = "surveys",
        .summary = "what surveys have heard: counts and scores, the comments of one",
        .run = [&kernel](std::span<const std::string> words) { return run(kernel, words); },
        .looks = {"nps", "csat", "onboarding", "agent_quality"},
    };
}

}  // namespace svc::feedback

// Reports: giving one, and what became of those that one gave.

#include "modules/feedback/feedback.hpp"
#include "modules/feedback/shapes.hpp"
#include "modules/files/api.hpp"

namespace svc::feedback {

namespace {

constexpr Sql insert_report{"feedback.insert_report", R"(
    INSERT INTO feedback_reports AS r (
        org_id, id, user_id, person_id, type, surface, title, message, page_url, metadata,
        screenshot_file_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    RETURNING )" SVC_REPORT};

constexpr Sql list_reports{"feedback.list_reports", R"(
    SELECT )" SVC_REPORT R"(
    FROM feedback_reports r
    WHERE r.org_id = $1 AND r.user_id = $2 AND r.id < $3
      AND ($4::text IS NULL OR r.type = $4) AND ($5::text IS NULL OR r.status = $5)
    ORDER BY r.id DESC
    LIMIT $6)"};

constexpr Sql find_report{"feedback.find_report", R"(
    SELECT )" SVC_REPORT R"(
    FROM feedback_reports r
    WHERE r.org_id = $1 AND r.id = $2 AND r.user_id = $3)"};

// ------------------------------------------------------------------------------------ create

constexpr std::size_t longest_key = 40;

struct CreateFeedbackRequest {
    FeedbackType type{};
    std::string message;
    std::optional<std::string> title;
    std::optional<Url> page_url;
    std::map<std::string, std::string> metadata;
    std::optional<Uuid> screenshot_file_id;
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    CreateFeedbackRequest,
    (type, "What sort of report it is."),
    (message, "The report.", length(1, 5000), trimmed, multiline),
    (title, "What it is about, in a few words.", length(0, 200), trimmed),
    (page_url, "The page it is about."),
    (metadata,
     "What else may help, such as a version of a browser; keys of up to 40 characters.",
     length(0, 20),
     items_up_to(500),
     defaulted),
    (screenshot_file_id,
     "A picture of what it is about, which you uploaded by presign_feedback_screenshot and "
     "committed."),
    (org_id, "The workspace it is given in; left out: the one you work in.", in_query)
);

FeedbackSurface surface_of(const Call& call) {
    switch (call.surface()) {
        case Surface::web: return FeedbackSurface::web;
        case Surface::mcp: return FeedbackSurface::mcp;
        default: return FeedbackSurface::api;
    }
}

bool is_continued(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

JsonText metadata_of(const Call& call, const CreateFeedbackRequest& in) {
    for (const auto& [key, value] : in.metadata)
        if (std::size_t(std::ranges::count_if(key, std::not_fn(is_continued))) > longest_key)
            throw wrong_field(call, "metadata", "a key may have 40 characters at most");
    JsonText text{""};
    Json<std::map<std::string, std::string>>::write(in.metadata, text.text);
    return text;
}

/// A Failure 422 unless it is a screenshot of the caller's in the same workspace.
void require_screenshot(Call& call, const Uuid& file) {
    const bool known =
        call.caller().org_id &&
        call.use<files::Uploads>().is_available(call, file, files::Purpose::feedback_screenshot)();
    if (!known)
        throw wrong_field(
            call, "screenshot_file_id", "you have committed no such screenshot in this workspace"
        );
}

FeedbackResponse create(Call& call, const CreateFeedbackRequest& in) {
    const Caller& caller = call.caller();
    const JsonText metadata = metadata_of(call, in);
    if (in.screenshot_file_id) require_screenshot(call, *in.screenshot_file_id);
    const auto report = call.tx()
                            .later<FeedbackResponse>(
                                insert_report,
                                org_or_none(caller),
                                new_uuid(),
                                caller.id,
                                caller.user_id.value_or(caller.id),
                                in.type,
                                surface_of(call),
                                in.title && !in.title->empty() ? in.title : std::nullopt,
                                in.message,
                                in.page_url,
                                metadata,
                                in.screenshot_file_id
                            )
                            .one_or_retry();
    if (caller.org_id) call.emit({.kind = &feedback_created, .id = report.id, .version = 1});
    return report;
}

const Operation create_feedback{
    .name = "create_feedback",
    .route = "POST /v1/feedback",
    .summary = "Report a bug, an idea or anything else to whoever runs the service.",
    .description =
        "The report is yours alone: nobody else in the workspace sees it. get_feedback says what "
        "became of it. What is refused counts against the number of reports within an hour, too.",
    .access = Access::me,
    .status = 201,
    .guards = {admit_report},
    .names_org = true,
    .handler = create,
};

// -------------------------------------------------------------------------------------- read

struct FeedbackQuery {
    std::optional<std::string> type, status;
    std::optional<Uuid> org_id;
    Paging paging;
};
SVC_RECORD(
    FeedbackQuery,
    (type, "Only reports of this type.", length(0, 100)),
    (status, "Only reports with this status.", length(0, 100)),
    (org_id, "Those given in this workspace; left out: in the one you work in."),
    (paging, "", flatten)
);

Page<FeedbackResponse> list(Call& call, const FeedbackQuery& in) {
    const auto after = call.after(in.paging);
    return call.page(
        call.tx().all<FeedbackResponse>(
            list_reports,
            org_or_none(call.caller()),
            call.caller().id,
            after ? after->front() : last_id().str(),
            in.type,
            in.status,
            in.paging.page_size + 1
        ),
        in.paging,
        [](const FeedbackResponse& last) { return std::vector{last.id.str()}; }
    );
}

const Operation list_my_feedback{
    .name = "list_my_feedback",
    .route = "GET /v1/feedback",
    .summary = "List the reports that you gave in a workspace, newest first.",
    .access = Access::me,
    .names_org = true,
    .handler = list,
};

struct FeedbackId {
    Uuid feedback_id;
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    FeedbackId,
    (feedback_id, "A report of yours."),
    (org_id, "The workspace it was given in; left out: the one you work in.")
);

FeedbackResponse get(Call& call, const FeedbackId& in) {
    auto report = call.tx().one<FeedbackResponse>(
        find_report, org_or_none(call.caller()), in.feedback_id, call.caller().id
    );
    if (!report) not_found("report");
    return *std::move(report);
}

const Operation get_feedback{
    .name = "get_feedback",
    .route = "GET /v1/feedback/{feedback_id}",
    .summary = "Read a report that you gave: its status, and the reply to it.",
    .access = Access::me,
    .names_org = true,
    .handler = get,
};

}  // namespace

void add_reports(Kernel& kernel) {
    kernel.add(feedback_created);
    kernel.add(feedback_answered);
    kernel.add(create_feedback);
    kernel.add(list_my_feedback);
    kernel.add(get_feedback);
}

}  // namespace svc::feedback

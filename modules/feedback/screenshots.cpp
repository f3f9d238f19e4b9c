// Screenshots of reports: files of their own purpose, uploaded as all files are.

#include "modules/feedback/feedback.hpp"
#include "modules/files/api.hpp"

namespace svc::feedback {

namespace {

struct CreateFeedbackScreenshotUploadRequest {
    std::string filename;
    std::string content_type;
    std::optional<std::int64_t> size_bytes;
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    CreateFeedbackScreenshotUploadRequest,
    (filename,
     "The name it is saved under: no path, no control characters.",
     length(1, 255),
     trimmed),
    (content_type, "`image/png`, `image/jpeg`, `image/webp` or `image/gif`.", length(3, 200)),
    (size_bytes, "How large it is at most; left out: 5 MiB.", range(1, 5 << 20)),
    (org_id, "The workspace that keeps it; left out: the one you work in.", in_query)
);

files::FileUpload presign(Call& call, const CreateFeedbackScreenshotUploadRequest& in) {
    return call.use<files::Uploads>().announce(
        call,
        {.purpose = files::Purpose::feedback_screenshot,
         .filename = in.filename,
         .content_type = in.content_type,
         .size_bytes = in.size_bytes}
    );
}

const Operation presign_feedback_screenshot{
    .name = "presign_feedback_screenshot",
    .route = "POST /v1/feedback/screenshots:presign",
    .summary = "Create the upload of a report's screenshot, and get the form to send it with.",
    .description =
        "Send the bytes as a multipart/form-data form to `upload_url`: all of `upload_url_fields`, "
        "then `file` as the last part. Then call commit_feedback_screenshot, and name the file in "
        "create_feedback. A workspace keeps it, so without one it is 404.",
    .access = Access::me,
    .status = 201,
    .guards = {admit_screenshot},
    .names_org = true,
    .handler = presign,
};

struct ScreenshotId {
    Uuid file_id;
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    ScreenshotId,
    (file_id, "A file that presign_feedback_screenshot made for you."),
    (org_id, "The workspace that keeps it; left out: the one you work in.", in_query)
);

files::File commit(Call& call, const ScreenshotId& in) {
    return call.use<files::Uploads>().commit(call, in.file_id, files::Purpose::feedback_screenshot);
}

const Operation commit_feedback_screenshot{
    .name = "commit_feedback_screenshot",
    .route = "POST /v1/feedback/screenshots/{file_id}:commit",
    .summary = "Commit the upload of a screenshot: the file becomes available.",
    .description =
        "Call it when the bytes are sent. What is not of the declared type or size is refused "
        "(422) and removed, and may be sent again by the same form. 409, reason "
        "`upload_missing`, when nothing has come in. Other files than screenshots of yours are "
        "404. Works in a workspace that is past due as well.",
    .access = Access::me,
    .guards = {admit_screenshot_commit},
    .idempotent = true,
    .when_past_due = true,
    .names_org = true,
    .handler = commit,
};

}  // namespace

void add_screenshots(Kernel& kernel) {
    kernel.add(presign_feedback_screenshot);
    kernel.add(commit_feedback_screenshot);
}

}  // namespace svc::feedback

// Committing an upload: what came in is looked at, and becomes available if it is what was
// announced.

#include "modules/boards/api/stored_bytes.hpp"
#include "modules/files/inspections.hpp"
#include "modules/files/lib/file_name.hpp"

namespace svc::files {

namespace {

// For the store to be asked, whatever it does. Clients give up after a minute.
constexpr std::chrono::seconds patience{40};
// As long as a call that cannot be run again may hold a worker.
constexpr std::chrono::seconds short_patience{10};

// Whoever comes second finds nothing to do; the sweeper has come first when the time is over.
constexpr Sql make_available{"files.make_available", R"(
    UPDATE files
    SET status = 'available', size_bytes = $3, sha256 = $4, object_id = $5, committed_at = now(),
        version = version + 1
    WHERE org_id = $1 AND id = $2 AND status = 'pending' AND deleted_at IS NULL
    RETURNING committed_at)"};

struct Committed {
    Timestamp committed_at;
};
SVC_RECORD(Committed, (committed_at));

Failure upload_missing() {
    return Failure(
               Fault::conflict,
               "Nothing has been uploaded yet. Send the bytes by the form first, then commit."
    )
        .with("reason", "upload_missing");
}

Failure upload_expired() {
    return Failure(Fault::conflict, "The time for this upload is over; create another.")
        .with("reason", "upload_expired");
}

/// Feedback commits its screenshots itself, under rules of its own.
bool is_committed_as(Purpose is, const std::optional<Purpose>& wanted) {
    return wanted ? is == *wanted : is != Purpose::feedback_screenshot;
}

Finding found(Call& call, Inspections& inspections, const Expected& what) {
    auto finding = inspections.ask(what);
    if (!finding) {
        call.wait_for(Inspections::topic_of(what.file), patience, Awaited::own_work);
        finding = inspections.stay(what, short_patience);  // it is not run again
    }
    if (!finding || finding->kind == Finding::Kind::failed)
        throw Failure(Fault::unavailable, "The store of the files does not answer; try again.")
            .with_header("Retry-After", "5");
    if (finding->kind == Finding::Kind::missing) throw upload_missing();
    if (finding->kind == Finding::Kind::wrong)
        throw Failure::invalid_at(
            R"(["body","file"])",
            "value_error",
            "The upload was refused and removed: " + finding->why
        );
    return *std::move(finding);
}

}  // namespace

File Service::commit(Call& call, const Uuid& id, const std::optional<Purpose>& purpose) const {
    auto seen = see(call, {id}).one();
    if (!seen || !seen->own || !is_committed_as(seen->file.purpose, purpose)) not_found("file");
    File& file = seen->file;
    if (file.status == FileStatus::available) return shown(*seen);
    if (seen->kept_status == FileStatus::expired) throw upload_expired();
    const bool shows = file.purpose != Purpose::attachment && is_picture(file.content_type);
    const auto most = shows ? largest_picture : largest();
    const auto finding = found(
        call,
        *inspections_,
        {.org = call.org(),
         .file = id,
         .content_type = file.content_type,
         .most_bytes = file.size_bytes.value_or(most)}
    );
    const auto committed = call.tx().one<Committed>(
        make_available,
        call.org(),
        id,
        finding.contents.size,
        finding.contents.sha256,
        finding.object
    );
    if (!committed) throw RetryTransaction("the upload was committed or swept meanwhile");
    boards::store_bytes(call, finding.contents.size);
    file.status = FileStatus::available;
    file.size_bytes = finding.contents.size;
    file.sha256 = finding.contents.sha256;
    file.committed_at = committed->committed_at;
    file.expires_at.reset();
    seen->object_id = finding.object;
    call.emit(
        {.kind = &file_committed, .id = id, .version = seen->version + 1, .name = file.filename}
    );
    return shown(*seen);
}

namespace {

File commit(Call& call, const FileId& in) {
    return call.use<Service>().commit(call, in.file_id, {});
}

}  // namespace

const Operation commit_file{
    .name = "commit_file",
    .route = "POST /v1/files/{file_id}:commit",
    .summary = "Commit an upload: the file becomes available.",
    .description =
        "Call it when the bytes are sent. They are checked: what is not of the declared type or "
        "size is refused (422) and removed, and may be sent again by the same form. 409, "
        "reason `upload_missing`, when nothing has come in. A repeat gives the same answer.",
    .access = Access::member,
    .idempotent = true,
    .handler = commit,
};

}  // namespace svc::files

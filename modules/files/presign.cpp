// Announcing an upload: the file is made, and the form to send it by.

#include "modules/files/files.hpp"
#include "modules/files/lib/file_name.hpp"
#include "modules/files/sweeper.hpp"

namespace svc::files {

namespace {

// Of two that are announced at once the second counts the first.
constexpr Sql lock_uploads{"files.lock_uploads", R"(
    SELECT WHERE pg_advisory_xact_lock(hashtextextended('files.uploads ' || $1::uuid, 0)) IS NULL)"};

// Nobody has more on the way than so many.
constexpr Sql insert_file{"files.insert_file", R"(
    INSERT INTO files (
        org_id, id, purpose, filename, content_type, size_bytes, upload_ends_at, sweep_at,
        created_by)
    SELECT $1::uuid, $2::uuid, $3, $4, $5, $6::bigint, now() + $7::interval,
        now() + $7::interval + $8::interval, $9::uuid
    WHERE (SELECT count(*) FROM files f
           WHERE f.org_id = $1 AND f.created_by = $9 AND f.status = 'pending'
               AND f.deleted_at IS NULL) < $10::bigint
    RETURNING upload_ends_at, created_time)"};

struct Made {
    Timestamp upload_ends_at;
    Timestamp created_time;
};
SVC_RECORD(Made, (upload_ends_at), (created_time));

bool is_for_show(Purpose purpose) {
    return purpose == Purpose::avatar || purpose == Purpose::icon ||
           purpose == Purpose::feedback_screenshot;
}

/// The announcement as it is kept; a Failure 422 names what is wrong with it.
Announcement checked(const Call& call, Announcement what, std::int64_t most) {
    if (const auto fault = fault_of_name(what.filename))
        throw wrong_field(call, "filename", *fault);
    const auto type = media_type_of(what.content_type);
    if (!type)
        throw wrong_field(
            call, "content_type", "a type such as image/png, without parameters, is wanted"
        );
    what.content_type = *type;
    if (is_for_show(what.purpose) && !is_picture(*type))
        throw wrong_field(
            call, "content_type", "a picture is image/png, image/jpeg, image/webp or image/gif"
        );
    if (what.size_bytes && *what.size_bytes > most)
        throw wrong_field(
            call,
            "size_bytes",
            "it may have " + std::to_string(most >> 20) + " MiB at most (" + std::to_string(most) +
                " bytes)"
        );
    return what;
}

Failure too_many() {
    return Failure(
               Fault::rate_limited,
               "You have created many uploads that are not committed yet; commit those first."
    )
        .with("rate_limit_reason", "pending_uploads")
        .with_header("Retry-After", "60");
}

}  // namespace

FileUpload Service::announce(Call& call, const Announcement& announced) const {
    const auto most = is_for_show(announced.purpose) ? largest_picture : largest();
    const auto what = checked(call, announced, most);
    FileUpload upload;
    File& file = upload.file;
    file.id = new_uuid();
    file.org_id = call.org();
    call.tx().queue(lock_uploads, call.caller().id);
    const auto made = call.tx().one<Made>(
        insert_file,
        call.org(),
        file.id,
        what.purpose,
        what.filename,
        what.content_type,
        what.size_bytes,
        std::chrono::seconds(settings_.upload_minutes * 60),
        grace,
        call.caller().id,
        settings_.pending_uploads
    );
    if (!made) throw too_many();
    file.purpose = what.purpose;
    file.filename = what.filename;
    file.content_type = what.content_type;
    file.size_bytes = what.size_bytes;
    file.expires_at = upload.upload_expires_at = made->upload_ends_at;
    file.created_by = ref_of(call.caller());
    file.created_time = made->created_time;
    auto form = store().upload_form(
        {.key = incoming_key(call.org(), file.id),
         .content_type = what.content_type,
         .most_bytes = what.size_bytes.value_or(most),
         .until = made->upload_ends_at}
    );
    upload.upload_url = std::move(form.url);
    upload.upload_url_fields = std::move(form.fields);
    call.emit({.kind = &file_announced, .id = file.id, .version = 1, .name = file.filename});
    return upload;
}

namespace {

/// What anybody may announce. Feedback's screenshots have a way of their own.
enum class OpenPurpose { attachment, avatar, icon };
BOOST_DESCRIBE_ENUM(OpenPurpose, attachment, avatar, icon)

struct PresignFileRequest {
    std::string filename;
    std::string content_type;
    std::optional<std::int64_t> size_bytes;
    OpenPurpose purpose = OpenPurpose::attachment;
};
SVC_RECORD(
    PresignFileRequest,
    (filename,
     "The name it is saved under: no path, no control characters.",
     length(1, 255),
     trimmed),
    (content_type,
     "What sort of file it is, such as image/png; the bytes are compared with it at the commit.",
     length(3, 200)),
    (size_bytes, "How large it is at most; left out: as large as files may be.", range(1, 1 << 30)),
    (purpose,
     "`attachment`: to attach to a card or to show in its content. `avatar`, `icon`: a picture of "
     "at "
     "most 5 MiB that everybody may see who has its address.",
     defaulted)
);

Purpose purpose_of(OpenPurpose purpose) {
    switch (purpose) {
        case OpenPurpose::avatar: return Purpose::avatar;
        case OpenPurpose::icon: return Purpose::icon;
        case OpenPurpose::attachment: break;
    }
    return Purpose::attachment;
}

FileUpload presign(Call& call, const PresignFileRequest& in) {
    return call.use<Service>().announce(
        call,
        {.purpose = purpose_of(in.purpose),
         .filename = in.filename,
         .content_type = in.content_type,
         .size_bytes = in.size_bytes}
    );
}

}  // namespace

const Operation presign_file{
    .name = "presign_file",
    .route = "POST /v1/files:presign",
    .summary = "Create an upload, and get the presigned form to send the file with.",
    .description =
        "Send the bytes as a multipart/form-data form to `upload_url`: all of `upload_url_fields`, "
        "then `file` as the last part. Nothing else is taken under that form, no other type and no "
        "more bytes. Then call commit_file.",
    .access = Access::member,
    .status = 201,
    .handler = presign,
};

}  // namespace svc::files

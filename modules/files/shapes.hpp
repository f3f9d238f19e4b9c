#pragma once

#include "svc/caller.hpp"

#include <map>

/// Files as they are shown (contract 6.14).
namespace svc::files {

/// `pending`: announced, and not committed yet.
enum class FileStatus { pending, available, expired };
BOOST_DESCRIBE_ENUM(FileStatus, pending, available, expired)

enum class Purpose { feedback_screenshot, attachment, avatar, icon, import_, export_ };
BOOST_DESCRIBE_ENUM(Purpose, feedback_screenshot, attachment, avatar, icon, import_, export_)

struct File {
    Object<"file"> object;
    Uuid id;
    std::optional<Uuid> org_id;
    FileStatus status{};
    Purpose purpose = Purpose::attachment;
    std::string filename;
    std::string content_type;
    std::optional<std::int64_t> size_bytes;
    std::optional<std::string> sha256;
    std::optional<std::string> url;
    std::optional<Timestamp> url_expires_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> committed_at;
    PrincipalRef created_by;
    Timestamp created_time;
};
SVC_SHARED_RECORD(
    File,
    (object, "Always \"file\"."),
    (id, "The file's id."),
    (org_id, "The workspace that keeps it."),
    (status,
     "`pending` until the upload was committed, then `available`; `expired` when nobody committed "
     "it in time."),
    (purpose, "What it is for."),
    (filename, "The name it is saved under."),
    (content_type, "Detected content type."),
    (size_bytes, "In bytes: as declared, if it was; as found once it is available."),
    (sha256, "The SHA-256 of its bytes, in hex; null until it is available."),
    (url,
     "Where to download it, without further credentials; null until it is available, and while the "
     "server has no store."),
    (url_expires_at, "When that address stops working; ask again for another."),
    (expires_at, "When the upload has to be done and committed; null when it is."),
    (committed_at, "When it became available."),
    (created_by, "Who uploads or uploaded it."),
    (created_time, "When the upload was created.")
);

/// FileUploadResponse of the contract: a file that is yet to be uploaded, and the way to do it.
struct FileUpload {
    File file;
    std::string upload_url;
    std::map<std::string, std::string> upload_url_fields;
    std::string upload_url_method = "POST";
    Timestamp upload_expires_at;
};
SVC_SHARED_RECORD(
    FileUpload,
    (file, "", flatten),
    (upload_url, "Where to send the bytes: a multipart/form-data form."),
    (upload_url_fields,
     "The form's fields, each sent unchanged; after them, as the last part, `file` with the "
     "bytes."),
    (upload_url_method, "Always POST."),
    (upload_expires_at, "The form is not taken any more then.")
);

/// What is to be remembered of a file in order to link to it without asking for it again.
struct FileRef {
    Uuid id;
    Uuid object_id;
    std::string filename;
    std::string content_type;
    bool operator==(const FileRef&) const = default;
};
SVC_SHARED_RECORD(
    FileRef,
    (id, "The file's id."),
    (object_id, "Of its bytes in the store."),
    (filename, "The name it is saved under."),
    (content_type, "What sort of file it is.")
);

/// Where bytes can be downloaded for a while, without further credentials.
struct Link {
    std::string url;
    Timestamp expires_at;
};
SVC_SHARED_RECORD(
    Link, (url, "Where to download it."), (expires_at, "When that address stops working.")
);

}  // namespace svc::files

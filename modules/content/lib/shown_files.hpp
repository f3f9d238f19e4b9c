#pragma once

#include "svc/record.hpp"

/// Files and icons of blocks: elsewhere, or uploaded here (contract 6.20).
namespace svc::content {

enum class IconType { emoji, external, file, file_upload };
BOOST_DESCRIBE_ENUM(IconType, emoji, external, file, file_upload)

struct ExternalFile {
    Url url;
    bool operator==(const ExternalFile&) const = default;
};
SVC_SHARED_RECORD(ExternalFile, (url, "Where it is to be found."));

/// Where a file that this server keeps is to be had.
struct AttachedFile {
    std::optional<std::string> url;
    std::optional<Timestamp> expires_at;
    bool operator==(const AttachedFile&) const = default;
};
SVC_SHARED_RECORD(
    AttachedFile,
    (url, "Where to fetch it; null when it has gone, or cannot be fetched now.", read_only),
    (expires_at, "When the address ends.", read_only)
);

/// A file that this server keeps.
struct KeptFile {
    Uuid file_id;
    AttachedFile address;
    bool operator==(const KeptFile&) const = default;
};
SVC_SHARED_RECORD(
    KeptFile,
    (file_id, "A file that you uploaded and committed, or one on a card that you may see."),
    (address, "", flatten)
);

struct UploadedFile {
    Uuid id;
    bool operator==(const UploadedFile&) const = default;
};
SVC_SHARED_RECORD(UploadedFile, (id, "The same as file_id."));

struct BlockIcon {
    std::optional<IconType> type;
    std::optional<std::string> emoji;
    std::optional<ExternalFile> external;
    std::optional<Uuid> file_id;
    std::optional<AttachedFile> file;
    std::optional<UploadedFile> file_upload;
    bool operator==(const BlockIcon&) const = default;
};
SVC_SHARED_RECORD(
    BlockIcon,
    (type,
     "Which of the following it is; may be left out. `file_upload` is answered as `file`.",
     omit_empty),
    (emoji, "One emoji.", length(1, 32), omit_empty),
    (external, "A picture elsewhere.", omit_empty),
    (file_id, "A picture that was uploaded, as files of blocks are.", omit_empty),
    (file, "Where that picture is.", read_only, omit_empty),
    (file_upload, "Another way to name an uploaded picture; answers say `file_id`.", omit_empty)
);

}  // namespace svc::content

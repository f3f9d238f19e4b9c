#pragma once

#include "modules/content/shapes.hpp"
#include "modules/files/api.hpp"

/// Files that come with a comment. Where no module keeps files, no comment has any.
namespace svc::content {

inline constexpr std::size_t most_attachments = 3;

struct AttachmentInput {
    std::optional<Uuid> file_id, file_upload_id;
    std::optional<JsonText> type;
};
SVC_SHARED_RECORD(
    AttachmentInput,
    (file_id, "A file that you uploaded and committed, or one on a card that you may see."),
    (file_upload_id, "The same, as client libraries of others call it."),
    (type, "As client libraries of others send it; ignored.", read_only)
);

using FileRefs = std::vector<files::FileRef>;

/// The files that a request names.
class FilesResolver {
public:
    /// Queues the question; throws Failure 422 when this server keeps no files.
    FilesResolver(Call& call, const std::vector<AttachmentInput>& wanted);
    /// Reads; throws Failure 422 for one that the caller may not attach.
    FileRefs refs();

private:
    Call& call_;
    std::vector<Uuid> ids_;
    std::function<FileRefs()> found_;
};

/// Queues that the comment shows these files, and no others.
void attach(Call& call, const Uuid& card, const Uuid& comment, const FileRefs& files);

/// As comments show them, each with its address, if it has one.
std::vector<CommentAttachment> shown(const FileRefs& files, const Addresses& addresses);

}  // namespace svc::content

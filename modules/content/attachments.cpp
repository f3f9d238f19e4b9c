#include "modules/content/attachments.hpp"

#include "modules/content/statements.hpp"

#include <algorithm>

namespace svc::content {

namespace {

AttachmentCategory category_of(std::string_view content_type) {
    if (content_type.starts_with("image/")) return AttachmentCategory::image;
    if (content_type.starts_with("video/")) return AttachmentCategory::video;
    if (content_type.starts_with("audio/")) return AttachmentCategory::audio;
    if (content_type == "application/pdf") return AttachmentCategory::pdf;
    return AttachmentCategory::document;
}

std::string place_of(std::size_t index) { return "\"attachments\"," + std::to_string(index); }

}  // namespace

FilesResolver::FilesResolver(Call& call, const std::vector<AttachmentInput>& wanted) : call_(call) {
    for (const AttachmentInput& each : wanted) {
        if (each.file_id.has_value() == each.file_upload_id.has_value())
            throw wrong_at(call, place_of(ids_.size()), "give either file_id or file_upload_id");
        ids_.push_back(each.file_id ? *each.file_id : *each.file_upload_id);
    }
    if (ids_.empty()) return;
    const auto* files = call.kernel().find<files::Files>();
    if (!files) throw wrong_at(call, "\"attachments\"", "this server keeps no files");
    found_ = files->find(call, ids_);
}

FileRefs FilesResolver::refs() {
    if (!found_) return {};
    const FileRefs found = found_();
    FileRefs refs;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
        const auto file = std::ranges::find(found, ids_[i], &files::FileRef::id);
        if (file == found.end()) throw wrong_at(call_, place_of(i), "you may attach no such file");
        if (std::ranges::find(refs, *file) == refs.end()) refs.push_back(*file);
    }
    return refs;
}

void attach(Call& call, const Uuid& card, const Uuid& comment, const FileRefs& files) {
    const auto* keeper = call.kernel().find<files::Files>();
    if (!keeper) return;
    std::vector<Uuid> ids;
    for (const files::FileRef& each : files) ids.push_back(each.id);
    keeper->attach(call.tx(), call.org(), card, {{comment, std::move(ids)}});
}

std::vector<CommentAttachment> shown(const FileRefs& files, const Addresses& addresses) {
    std::vector<CommentAttachment> out;
    for (const files::FileRef& each : files) {
        const auto found = addresses.find(each.id);
        out.push_back(
            {each.id,
             category_of(each.content_type),
             found == addresses.end() ? AttachedFile{} : found->second}
        );
    }
    return out;
}

}  // namespace svc::content

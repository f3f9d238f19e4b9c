// Pictures and files of Markdown as blocks.

#include "modules/content/lib/made_blocks.hpp"
#include "modules/content/lib/node_text.hpp"

namespace svc::content {

namespace {

/// What `file:<id>` names.
std::optional<Uuid> uploaded_file(std::string_view target) {
    static constexpr std::string_view scheme = "file:";
    if (!target.starts_with(scheme)) return std::nullopt;
    return Uuid::parse(target.substr(scheme.size()));
}

/// Nothing when the target is neither an address nor an uploaded file.
template <class Media>
std::optional<BlockInput> media_block(
    BlockType type, std::string_view target, const RichTexts& caption
) {
    Media payload;
    if (const auto id = uploaded_file(target)) {
        payload.type = MediaType::file;
        payload.file = KeptFile{*id, {}};
    } else if (const auto url = Url::parse(target)) {
        payload.type = MediaType::external;
        payload.external = ExternalFile{*url};
    } else {
        return std::nullopt;
    }
    payload.caption = checked(caption);
    BlockInput block = block_of(type, payload);
    collect_references(payload.caption, block.references);
    if (payload.file) block.references.files.push_back(payload.file->file_id);
    return block;
}

}  // namespace

std::optional<BlockInput> media_in(cmark_node* paragraph) {
    cmark_node* only = cmark_node_first_child(paragraph);
    if (!only || cmark_node_next(only)) return std::nullopt;
    const char* url = cmark_node_get_url(only);
    const std::string_view kind = kind_of_node(only), target = url ? url : "";
    if (kind == "image")
        return media_block<MediaBlock>(BlockType::image, target, inline_text(only));
    // A link to somewhere else is text.
    if (kind == "link" && uploaded_file(target))
        return media_block<FileBlock>(BlockType::file, target, inline_text(only));
    return std::nullopt;
}

}  // namespace svc::content

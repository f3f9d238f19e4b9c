#pragma once

#include "modules/content/lib/inline_markdown.hpp"
#include "modules/content/lib/markdown.hpp"

/// Blocks as Markdown's readers make them.
namespace svc::content {

template <class T>
BlockInput block_of(BlockType type, T payload) {
    BlockInput block;
    block.type = type;
    Json<T>::write(payload, block.payload);
    return block;
}

inline const RichTexts& checked(const RichTexts& texts) {
    if (texts.size() > most_items)
        throw MarkdownError("a paragraph makes more than 100 items of rich text");
    return texts;
}

template <class T>
BlockInput text_block(BlockType type, const RichTexts& texts) {
    T payload{};
    payload.rich_text = checked(texts);
    BlockInput block = block_of(type, std::move(payload));
    collect_references(texts, block.references);
    return block;
}

/// What a paragraph shows that is a picture alone, or an uploaded file alone.
std::optional<BlockInput> media_in(cmark_node* paragraph);

}  // namespace svc::content

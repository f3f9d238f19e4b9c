#pragma once

#include "modules/content/lib/block_input.hpp"

#include <stdexcept>

/// Blocks as Markdown, and Markdown as blocks: CommonMark with GitHub's tables, task lists and
/// strikethrough (docs/content.md says what stands for what).
namespace svc::content {

/// A block to be written as Markdown.
struct WrittenBlock {
    Uuid id;
    BlockType type{};
    std::string payload;
    std::vector<WrittenBlock> children;
};

/// What stands for an empty paragraph and for blocks that only say what whoever shows the card is
/// to put there.
inline constexpr std::string_view empty_mark = "<!-- empty -->";
inline constexpr std::string_view breadcrumb_mark = "<!-- breadcrumb -->";
inline constexpr std::string_view contents_mark = "<!-- table_of_contents -->";

std::string markdown_of(const std::vector<WrittenBlock>& blocks);
/// One block by itself, without what is below it.
std::string markdown_of_alone(const WrittenBlock& block);
std::string markdown_of(const RichTexts& texts);

/// The text makes no blocks that could be kept: `what()` says why, to a person.
class MarkdownError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Throws MarkdownError. Takes time in proportion to the text, whatever it says.
std::vector<BlockInput> blocks_of_markdown(std::string_view text);
/// The text alone: paragraphs and lines one below the other.
RichTexts text_of_markdown(std::string_view text);

}  // namespace svc::content

#pragma once

#include "modules/content/lib/rich_text.hpp"
#include "modules/content/lib/shown_files.hpp"

#include <boost/preprocessor/facilities/empty.hpp>
#include <boost/preprocessor/punctuation/comma.hpp>

/// What each type of block holds (contract 6.20), one record a type.
namespace svc::content {

/// In front of every payload's fields stands what answers never show there: children are sent
/// within the payload or beside it, and read by whoever reads the block.
#define SVC_CHILDREN                                                                        \
    (children,                                                                              \
     "Blocks below it, as the client library of others sends them; the same as `children` " \
     "beside the type.",                                                                    \
     read_only,                                                                             \
     omit_empty)

struct ParagraphBlock {
    RichTexts rich_text;
    TextColor color{};
    std::optional<BlockIcon> icon;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    ParagraphBlock,
    (rich_text, "The text.", length(0, most_items), defaulted),
    (color, "Color of the text or its background.", defaulted),
    (icon, "Shown in front of it."),
    SVC_CHILDREN
);

struct HeadingBlock {
    RichTexts rich_text;
    TextColor color{};
    bool is_toggleable = false;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    HeadingBlock,
    (rich_text, "The text.", length(0, most_items), defaulted),
    (color, "Color of the text or its background.", defaulted),
    (is_toggleable, "It folds, and so may have blocks below it.", defaulted),
    SVC_CHILDREN
);

/// A bulleted item, a toggle or a quote.
struct TextBlock {
    RichTexts rich_text;
    TextColor color{};
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    TextBlock,
    (rich_text, "The text.", length(0, most_items), defaulted),
    (color, "Color of the text or its background.", defaulted),
    SVC_CHILDREN
);

enum class ListFormat { numbers, letters, roman };
BOOST_DESCRIBE_ENUM(ListFormat, numbers, letters, roman)

struct NumberedItemBlock {
    RichTexts rich_text;
    TextColor color{};
    std::optional<std::int64_t> list_start_index;
    std::optional<ListFormat> list_format;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    NumberedItemBlock,
    (rich_text, "The text.", length(0, most_items), defaulted),
    (color, "Color of the text or its background.", defaulted),
    (list_start_index, "Number of the first item of a list.", range(0, 999'999'999), omit_empty),
    (list_format, "Format of the numbers.", omit_empty),
    SVC_CHILDREN
);

struct ToDoBlock {
    RichTexts rich_text;
    TextColor color{};
    bool checked = false;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    ToDoBlock,
    (rich_text, "What is to be done.", length(0, most_items), defaulted),
    (color, "Color of the text or its background.", defaulted),
    (checked, "Whether it is done.", defaulted),
    SVC_CHILDREN
);

struct CalloutBlock {
    RichTexts rich_text;
    TextColor color{};
    std::optional<BlockIcon> icon;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    CalloutBlock,
    (rich_text, "The text.", length(0, most_items), defaulted),
    (color, "Color of the text or its background.", defaulted),
    (icon, "Shown in front of it."),
    SVC_CHILDREN
);

struct CodeBlock {
    RichTexts rich_text;
    RichTexts caption;
    std::string language = "plain text";
};
SVC_SHARED_RECORD(
    CodeBlock,
    (rich_text, "The code.", length(0, most_items), defaulted),
    (caption, "Shown below it.", length(0, most_items), defaulted),
    (language, "What the code is written in.", length(1, 60), svc::trimmed, defaulted)
);

struct EquationBlock {
    std::string expression;
};
SVC_SHARED_RECORD(EquationBlock, (expression, "In KaTeX's notation.", length(1, 1000)));

/// A divider, a breadcrumb or a list of columns: there is nothing to say of it.
struct EmptyBlock {
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(EmptyBlock, SVC_CHILDREN);

/// Made of the card's headings by whoever shows it.
struct ContentsBlock {
    TextColor color{};
};
SVC_SHARED_RECORD(ContentsBlock, (color, "Color of the text or its background.", defaulted));

struct LinkedBlock {
    Url url;
    RichTexts caption;
};
SVC_SHARED_RECORD(
    LinkedBlock,
    (url, "The address of the file shown."),
    (caption, "Shown below it.", length(0, most_items), defaulted)
);

enum class MediaType { external, file, file_upload };
BOOST_DESCRIBE_ENUM(MediaType, external, file, file_upload)

/// A picture, a film, a sound or a PDF.
struct MediaBlock {
    std::optional<MediaType> type;
    std::optional<ExternalFile> external;
    std::optional<KeptFile> file;
    std::optional<UploadedFile> file_upload;
    RichTexts caption;
};
SVC_SHARED_RECORD(
    MediaBlock,
    (type,
     "Which of the following it is; may be left out. `file_upload` is answered as `file`.",
     omit_empty),
    (external, "A file elsewhere.", omit_empty),
    (file, "A file that was uploaded.", omit_empty),
    (file_upload, "Another way to name an uploaded file; answers say `file`.", omit_empty),
    (caption, "Shown below it.", length(0, most_items), defaulted)
);

struct FileBlock {
    std::optional<MediaType> type;
    std::optional<ExternalFile> external;
    std::optional<KeptFile> file;
    std::optional<UploadedFile> file_upload;
    RichTexts caption;
    std::string name;
};
SVC_SHARED_RECORD(
    FileBlock,
    (type,
     "Which of the following it is; may be left out. `file_upload` is answered as `file`.",
     omit_empty),
    (external, "A file elsewhere.", omit_empty),
    (file, "A file that was uploaded.", omit_empty),
    (file_upload, "Another way to name an uploaded file; answers say `file`.", omit_empty),
    (caption, "Shown below it.", length(0, most_items), defaulted),
    (name,
     "What people see it called; of an uploaded file its own name, if left out.",
     length(0, 255),
     svc::trimmed,
     defaulted)
);

struct TableBlock {
    std::int64_t table_width = 1;
    bool has_column_header = false;
    bool has_row_header = false;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    TableBlock,
    (table_width, "How many cells each row has; it stays so.", range(1, 100)),
    (has_column_header, "The first row is a header.", defaulted),
    (has_row_header, "The first column is a header.", defaulted),
    SVC_CHILDREN
);

struct TableRowBlock {
    std::vector<RichTexts> cells;
};
SVC_SHARED_RECORD(
    TableRowBlock, (cells, "As many as the table is wide.", length(1, 100), items_up_to(most_items))
);

struct ColumnBlock {
    std::optional<double> width_ratio;
    std::optional<JsonText> children;
};
SVC_SHARED_RECORD(
    ColumnBlock,
    (width_ratio, "Its share of the width, above 0 and at most 1; null: an equal one.", range(0, 1)
    ),
    SVC_CHILDREN
);

struct CardRefBlock {
    Uuid card_id;
};
SVC_SHARED_RECORD(CardRefBlock, (card_id, "A card of the workspace that you may see."));

#undef SVC_CHILDREN

// ------------------------------------------------------------------------------------ the types

/// What stands below a block.
enum class Below { nothing, blocks };

/// Every type of block with its record and what may stand below it, in the order in which they are
/// documented. SEP() stands between two. Whatever else goes by type is read from this list; what a
/// type is in Markdown, markdown_reader.cpp and markdown_writer.cpp say.
// clang-format off
#define SVC_BLOCK_LIST(EACH, SEP)                             \
    EACH(paragraph, ParagraphBlock, blocks) SEP()             \
    EACH(heading_1, HeadingBlock, blocks) SEP()               \
    EACH(heading_2, HeadingBlock, blocks) SEP()               \
    EACH(heading_3, HeadingBlock, blocks) SEP()               \
    EACH(heading_4, HeadingBlock, blocks) SEP()               \
    EACH(bulleted_list_item, TextBlock, blocks) SEP()         \
    EACH(numbered_list_item, NumberedItemBlock, blocks) SEP() \
    EACH(to_do, ToDoBlock, blocks) SEP()                      \
    EACH(toggle, TextBlock, blocks) SEP()                     \
    EACH(quote, TextBlock, blocks) SEP()                      \
    EACH(callout, CalloutBlock, blocks) SEP()                 \
    EACH(code, CodeBlock, nothing) SEP()                      \
    EACH(equation, EquationBlock, nothing) SEP()              \
    EACH(divider, EmptyBlock, nothing) SEP()                  \
    EACH(breadcrumb, EmptyBlock, nothing) SEP()               \
    EACH(table_of_contents, ContentsBlock, nothing) SEP()     \
    EACH(bookmark, LinkedBlock, nothing) SEP()                \
    EACH(embed, LinkedBlock, nothing) SEP()                   \
    EACH(image, MediaBlock, nothing) SEP()                    \
    EACH(video, MediaBlock, nothing) SEP()                    \
    EACH(audio, MediaBlock, nothing) SEP()                    \
    EACH(pdf, MediaBlock, nothing) SEP()                      \
    EACH(file, FileBlock, nothing) SEP()                      \
    EACH(table, TableBlock, blocks) SEP()                     \
    EACH(table_row, TableRowBlock, nothing) SEP()             \
    EACH(column_list, EmptyBlock, blocks) SEP()               \
    EACH(column, ColumnBlock, blocks) SEP()                   \
    EACH(card_ref, CardRefBlock, nothing)
// clang-format on
#define SVC_BLOCK_TYPES(EACH) SVC_BLOCK_LIST(EACH, BOOST_PP_EMPTY)

#define SVC_NAME_OF_TYPE(type, record, below) type
#define SVC_DESCRIBE_ENUM(...) BOOST_DESCRIBE_ENUM(__VA_ARGS__)
enum class BlockType { SVC_BLOCK_LIST(SVC_NAME_OF_TYPE, BOOST_PP_COMMA) };
SVC_DESCRIBE_ENUM(BlockType, SVC_BLOCK_LIST(SVC_NAME_OF_TYPE, BOOST_PP_COMMA))
#undef SVC_NAME_OF_TYPE
#undef SVC_DESCRIBE_ENUM

/// For records with a member for each type: the members, and their rows.
#define SVC_BLOCK_MEMBERS SVC_BLOCK_TYPES(SVC_BLOCK_MEMBER)
#define SVC_BLOCK_MEMBER(type, record, below) std::optional<record> type;
#define SVC_BLOCK_ROWS SVC_BLOCK_LIST(SVC_BLOCK_ROW, BOOST_PP_COMMA)
#define SVC_BLOCK_ROW(type, record, below) (type, "What a block of this type holds.", omit_empty)

inline constexpr std::size_t block_types = Json<BlockType>::names().size();

// ---------------------------------------------------------------------------------- their work

/// A payload as it is stored, and what it says without marks.
struct Worded {
    std::string payload, plain;
};

/// Where the uploaded files are that somebody may fetch.
using Addresses = std::map<Uuid, AttachedFile>;

/// What can be done with a payload of one type.
struct PayloadKind {
    const Codec* codec;
    Below below;
    /// Reads a payload as it was sent and gives it back as it is stored, but for what only a
    /// look-up can tell. Problems are recorded; `references` gets whom and what it names.
    std::string (*read)(Reader&, const json::value&, References& references);
    /// Fills in what is worked out.
    Worded (*resolve)(const std::string& payload, const ReferenceNames&);
    /// A stored payload with the addresses of the uploaded files that it shows.
    std::string (*address)(const std::string& payload, const Addresses&);
};
const PayloadKind& kind_of(BlockType type);

/// A stored payload as its record. `T` has to be the type's own.
template <class T>
T payload_as(const std::string& payload) {
    T value{};
    svc::detail::read_json_cell({payload.data(), payload.size(), false}, codec<T>, &value);
    return value;
}

/// Whether blocks of this type may have any below them.
inline bool takes_children(BlockType type) { return kind_of(type).below == Below::blocks; }

}  // namespace svc::content

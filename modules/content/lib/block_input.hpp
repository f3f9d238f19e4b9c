#pragma once

#include "modules/content/lib/payloads.hpp"

/// Blocks as requests bring them.
namespace svc::content {

/// A new block, read, settled and not stored yet.
struct BlockInput {
    std::optional<Uuid> id;  ///< as the client would have it
    BlockType type{};
    std::string payload;  ///< as it is stored, but for what only a look-up can tell
    std::string plain;    ///< what it says without marks
    std::vector<BlockInput> children;
    References references;  ///< by this block alone
};

/// Limits of one request (contract 6.20).
inline constexpr std::size_t most_in_list = 100;
inline constexpr std::size_t most_in_request = 1000;
inline constexpr std::size_t most_levels = 10;

/// How many blocks there are in these trees.
std::size_t count_blocks(const std::vector<BlockInput>& blocks);
/// Levels of the deepest of these trees; none is 0.
std::size_t height_of(const std::vector<BlockInput>& blocks);
/// Whom and what it names, and all below it.
References references_in(const BlockInput& block);
References references_in(const std::vector<BlockInput>& blocks);
/// The ids that they bring.
void gather_ids(const std::vector<BlockInput>& blocks, std::vector<Uuid>& into);
/// Fills in what is worked out, in all of them.
void resolve(std::vector<BlockInput>& blocks, const ReferenceNames& names);

/// Whether a block of type `child` may stand below one of type `parent`; without a parent,
/// directly on the card. Empty when it may, or else why not. `toggleable` as of a heading.
std::string why_not_below(std::optional<BlockType> parent, bool toggleable, BlockType child);

/// Changes a stored payload by what was sent of it: members that were not sent are kept. Gives
/// the payload as BlockInput::payload is; problems are recorded at the reader's present place.
std::string changed_payload(
    Reader& reader,
    BlockType type,
    const std::string& stored,
    const JsonText& sent,
    References& references
);

/// Whom and what an unread payload names, as far as it can be told.
References references_of(const json::value& payload);
/// Adds the names that a stored payload shows to those that were looked up: what was there may
/// stay, whatever became of it.
void keep_names(const std::string& stored, ReferenceNames& names);

/// Part of a payload, as it was sent: what is not in it is kept.
template <class T>
struct Changes {
    std::string text;
};

/// True when a heading's payload says that it folds.
bool is_toggleable(BlockType type, const std::string& payload);
/// Of a table's payload.
std::int64_t table_width(const std::string& payload);
std::size_t cell_count(const std::string& payload);

/// How a request shows a block to its readers: JSON Schema is made of it, nothing is read by it.
struct BlockShape;

}  // namespace svc::content

namespace svc {

/// Read when it is put together with what is stored; described as a payload of which every member
/// may be left out.
template <class T>
struct Json<content::Changes<T>> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<T>::schema(writer, rules, out);
    }
    static void read(
        Reader& reader, const Rules& rules, const json::value& in, content::Changes<T>& out
    ) {
        JsonText text;
        Json<JsonText>::read(reader, rules, in, text);
        out.text = std::move(text.text);
    }
    static void write(const content::Changes<T>& in, std::string& out) { out += in.text; }
    static void from_db(Cell cell, content::Changes<T>& out) { out.text = cell.text(); }
    static bool empty(const content::Changes<T>& in) { return in.text.empty(); }
};

template <>
struct Json<content::BlockInput> {
    static void schema(SchemaWriter&, const Rules&, json::object& out);
    static void read(Reader&, const Rules&, const json::value&, content::BlockInput&);
    static void write(const content::BlockInput&, std::string&);
    static void from_db(Cell, content::BlockInput&);
    static bool empty(const content::BlockInput&) { return false; }
};

}  // namespace svc

namespace svc::content {

struct BlockShape {
    std::optional<Uuid> id;
    std::optional<BlockType> type;
    SVC_BLOCK_MEMBERS
    std::vector<BlockInput> children;
};
SVC_SHARED_RECORD(
    BlockShape,
    (id, "The id that it shall have; one that is taken is passed over.", omit_empty),
    (type, "May be left out: exactly one of the following names it.", omit_empty),
    SVC_BLOCK_ROWS,
    (children, "Blocks below it, ten levels at most.", length(0, most_in_list), defaulted)
);

}  // namespace svc::content

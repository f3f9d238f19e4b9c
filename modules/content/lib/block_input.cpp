#include "modules/content/lib/block_input.hpp"

#include "svc/json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

namespace svc::content {

namespace {

constexpr std::string_view tag_context =
    R"({"discriminator":"'type'","expected_tags":"a type of block"})";

/// Types that others know and this server does not take.
constexpr std::array<std::string_view, 10> refused{
    "synced_block",
    "link_to_page",
    "child_page",
    "child_database",
    "template",
    "tab",
    "link_preview",
    "meeting_notes",
    "transcription",
    "unsupported"};

/// Members of a block as answers show it, which are ignored.
constexpr std::array<std::string_view, 14> echoed{
    "object",
    "parent",
    "card_id",
    "has_children",
    "in_trash",
    "archived",
    "created_time",
    "created_by",
    "last_edited_time",
    "last_edited_by",
    "version",
    "children_truncated",
    "request_id",
    "plain_text"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::optional<BlockType> type_named(std::string_view name) {
    const auto names = Json<BlockType>::names();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<BlockType>(found - names.begin());
}

void reject_tag(Reader& reader, const std::string& message, const json::value* input) {
    reader.reject("union_tag_invalid", message, input, tag_context);
}

/// The one member that names the block's type.
class Tag {
public:
    Tag(Reader& reader, const json::object& in) : reader_(reader) {
        for (const auto& [key, value] : in) take(key, value);
        if (const auto* said = in.if_contains("type")) check(*said);
        if (!type_ && reader.clean())
            reader.reject("union_tag_not_found", "Exactly one member has to name the block's type");
    }
    std::optional<BlockType> type() const { return type_; }
    const json::value* payload() const { return payload_; }

private:
    void take(std::string_view key, const json::value& value) {
        if (key == "id" || key == "type" || key == "children" || among(echoed, key)) return;
        auto step = reader_.at(key);
        const auto found = type_named(key);
        if (!found && among(refused, key))
            return reject_tag(reader_, "Blocks of this type cannot be made here", &value);
        if (!found) return reader_.reject("extra_forbidden", "There is no such field", &value);
        if (type_) return reject_tag(reader_, "A block has one type", &value);
        type_ = found;
        payload_ = &value;
    }

    void check(const json::value& said) {
        auto step = reader_.at("type");
        const auto* text = said.if_string();
        if (!text) return reader_.reject("string_type", "Should be a string", &said);
        const auto named = type_named(*text);
        if (!named) return reject_tag(reader_, "There is no such type of block", &said);
        if (type_ && *named != *type_)
            reject_tag(reader_, "type does not name the member that is given", &said);
    }

    Reader& reader_;
    std::optional<BlockType> type_;
    const json::value* payload_ = nullptr;
};

/// Reads blocks one level after the other, within the limits of a request.
class TreeReader {
public:
    explicit TreeReader(Reader& reader) : reader_(reader) {}

    void read(const json::value& in, BlockInput& out, std::size_t level) {
        const auto* object = in.if_object();
        if (!object)
            return reader_.reject(
                "model_attributes_type", "Should be an object with the documented fields", &in
            );
        const Tag tag(reader_, *object);
        if (const auto* id = object->if_contains("id"); id && !id->is_null()) {
            auto step = reader_.at("id");
            Json<Uuid>::read(reader_, {}, *id, out.id.emplace());
        }
        if (!tag.type()) return;
        out.type = *tag.type();
        const std::string_view name = name_of(out.type);
        {
            auto step = reader_.at(name);
            out.payload = kind_of(out.type).read(reader_, *tag.payload(), out.references);
        }
        read_children(*object, tag, out, level);
    }

private:
    void read_children(
        const json::object& object, const Tag& tag, BlockInput& out, std::size_t level
    ) {
        const auto* beside = object.if_contains("children");
        const auto* payload = tag.payload()->if_object();
        const auto* within = payload ? payload->if_contains("children") : nullptr;
        if (beside && within) {
            auto step = reader_.at("children");
            return reader_.reject("value_error", "Children are given in two places");
        }
        if (within) {
            auto step = reader_.at(name_of(out.type));
            read_list(*within, out, level);
        } else if (beside) {
            read_list(*beside, out, level);
        }
        check_children(out);
    }

    void read_list(const json::value& in, BlockInput& out, std::size_t level) {
        auto step = reader_.at("children");
        const auto* list = in.if_array();
        if (!list) return reader_.reject("list_type", "Should be an array", &in);
        if (list->size() > most_in_list)
            return reader_.reject("too_long", "Should have at most 100 items");
        if (!list->empty() && level >= most_levels)
            return reader_.reject("too_long", "A request brings ten levels of blocks at most");
        out.children.resize(list->size());
        for (std::size_t i = 0; i < list->size(); ++i) {
            auto item = reader_.at(i);
            read((*list)[i], out.children[i], level + 1);
        }
    }

    void check_children(const BlockInput& block) {
        if (!reader_.clean()) return;
        const bool toggles = is_toggleable(block.type, block.payload);
        for (std::size_t i = 0; i < block.children.size(); ++i) {
            const std::string why = why_not_below(block.type, toggles, block.children[i].type);
            if (why.empty()) continue;
            auto step = reader_.at("children");
            auto item = reader_.at(i);
            return reader_.reject("value_error", why);
        }
        check_shape(block);
    }

    void check_shape(const BlockInput& block) {
        auto step = reader_.at("children");
        if (block.type == BlockType::table && block.children.empty())
            reader_.reject("too_short", "A table is made with one row at least");
        if (block.type == BlockType::column_list && block.children.size() < 2)
            reader_.reject("too_short", "A list of columns is made with two columns at least");
        if (block.type != BlockType::table) return;
        const auto width = static_cast<std::size_t>(table_width(block.payload));
        for (std::size_t i = 0; i < block.children.size(); ++i) {
            if (cell_count(block.children[i].payload) == width) continue;
            auto item = reader_.at(i);
            reader_.reject(
                "value_error",
                "A row has as many cells as the table is wide: " + std::to_string(width)
            );
        }
    }

    Reader& reader_;
};

void add_id(const json::value& in, std::string_view member, std::vector<Uuid>& into) {
    const auto* object = in.if_object();
    const auto* text = object ? object->if_contains(member) : nullptr;
    if (!text || !text->is_string()) return;
    if (const auto id = Uuid::parse(text->get_string())) into.push_back(*id);
}

void collect_from(const json::value& in, References& into) {
    if (const auto* list = in.if_array())
        for (const json::value& each : *list) collect_from(each, into);
    const auto* object = in.if_object();
    if (!object) return;
    for (const auto& [key, value] : *object) {
        if (key == "user") add_id(value, "id", into.users);
        if (key == "page") add_id(value, "id", into.pages);
        if (key == "file_upload") add_id(value, "id", into.files);
        collect_from(value, into);
    }
    add_id(in, "file_id", into.files);
    add_id(in, "card_id", into.pages);
}

}  // namespace

References references_of(const json::value& payload) {
    References references;
    collect_from(payload, references);
    return references;
}

void keep_names(const std::string& stored, ReferenceNames& names) {
    const json::value whole = parse_json(stored);
    rich_text::keep_names(whole, names);
    for (const Uuid& each : references_of(whole).files) names.files.emplace(each, "");
}

std::size_t count_blocks(const std::vector<BlockInput>& blocks) {
    std::size_t count = blocks.size();
    for (const BlockInput& each : blocks) count += count_blocks(each.children);
    return count;
}

std::size_t height_of(const std::vector<BlockInput>& blocks) {
    std::size_t height = 0;
    for (const BlockInput& each : blocks) height = std::max(height, 1 + height_of(each.children));
    return height;
}

References references_in(const BlockInput& block) {
    References all = block.references;
    all.add(references_in(block.children));
    return all;
}

References references_in(const std::vector<BlockInput>& blocks) {
    References all;
    for (const BlockInput& each : blocks) all.add(references_in(each));
    return all;
}

void gather_ids(const std::vector<BlockInput>& blocks, std::vector<Uuid>& into) {
    for (const BlockInput& each : blocks) {
        if (each.id) into.push_back(*each.id);
        gather_ids(each.children, into);
    }
}

void resolve(std::vector<BlockInput>& blocks, const ReferenceNames& names) {
    for (BlockInput& each : blocks) {
        Worded worded = kind_of(each.type).resolve(each.payload, names);
        each.payload = std::move(worded.payload);
        each.plain = std::move(worded.plain);
        resolve(each.children, names);
    }
}

std::string why_not_below(std::optional<BlockType> parent, bool toggleable, BlockType child) {
    if (child == BlockType::table_row && parent != BlockType::table)
        return "a table_row stands in a table";
    if (child == BlockType::column && parent != BlockType::column_list)
        return "a column stands in a column_list";
    if (!parent) return {};
    const std::string name(name_of(*parent));
    if (!takes_children(*parent)) return "a block of type " + name + " has nothing below it";
    if (*parent == BlockType::table && child != BlockType::table_row)
        return "a table holds rows alone";
    if (*parent == BlockType::column_list && child != BlockType::column)
        return "a column_list holds columns alone";
    const bool heading = *parent >= BlockType::heading_1 && *parent <= BlockType::heading_4;
    if (heading && !toggleable) return "a heading has blocks below it only when it is toggleable";
    return {};
}

bool is_toggleable(BlockType type, const std::string& payload) {
    if (type < BlockType::heading_1 || type > BlockType::heading_4) return false;
    return payload_as<HeadingBlock>(payload).is_toggleable;
}

std::int64_t table_width(const std::string& payload) {
    return payload_as<TableBlock>(payload).table_width;
}

std::size_t cell_count(const std::string& payload) {
    return payload_as<TableRowBlock>(payload).cells.size();
}

std::string changed_payload(
    Reader& reader,
    BlockType type,
    const std::string& stored,
    const JsonText& sent,
    References& references
) {
    const json::value given = parse_json(sent.text);
    const auto* changes = given.if_object();
    if (!changes) return kind_of(type).read(reader, given, references);
    json::value whole = parse_json(stored);
    json::object& merged = whole.get_object();
    // A file is elsewhere or here: what is sent takes the place of what was there.
    for (const char* each : {"external", "file", "file_upload"})
        if (changes->contains(each))
            for (const char* other : {"type", "external", "file", "file_upload"})
                merged.erase(other);
    for (const auto& [key, value] : *changes) merged[key] = value;
    return kind_of(type).read(reader, whole, references);
}

}  // namespace svc::content

namespace svc {

void Json<content::BlockInput>::schema(SchemaWriter& writer, const Rules&, json::object& out) {
    writer.reference(record_of<content::BlockShape>(), out);
}

void Json<content::BlockInput>::read(
    Reader& reader, const Rules&, const json::value& in, content::BlockInput& out
) {
    content::TreeReader(reader).read(in, out, 1);
}

void Json<content::BlockInput>::write(const content::BlockInput&, std::string&) {
    throw std::logic_error("a block that is sent is for requests only");
}

void Json<content::BlockInput>::from_db(Cell, content::BlockInput&) {
    throw std::logic_error("a block that is sent is for requests only");
}

}  // namespace svc

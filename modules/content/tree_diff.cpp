#include "modules/content/tree_diff.hpp"

#include "modules/content/lib/matching.hpp"

#include "svc/json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace svc::content {

namespace {

/// What Markdown says of a payload; all else stays as it was.
constexpr std::array<std::string_view, 11> said_by_markdown{
    "rich_text",
    "checked",
    "language",
    "expression",
    "external",
    "file",
    "caption",
    "cells",
    "has_column_header",
    "card_id",
    "list_start_index"};

WrittenBlock written(const BlockInput& block) {
    WrittenBlock out{{}, block.type, block.payload, {}};
    for (const BlockInput& each : block.children) out.children.push_back(written(each));
    return out;
}

/// Markdown has line ends of one sort, so those of another are no difference.
std::string with_plain_ends(std::string_view markdown) {
    std::string out;
    for (std::size_t i = 0; i < markdown.size(); ++i) {
        if (markdown[i] != '\r') out += markdown[i];
        else if (!markdown.substr(i + 1).starts_with('\n')) out += '\n';
    }
    return out;
}

BlockSignature likeness_of(const WrittenBlock& block) {
    // Tables of different widths do not become each other.
    std::size_t shape = 0;
    if (block.type == BlockType::table)
        shape = static_cast<std::size_t>(table_width(block.payload));
    if (block.type == BlockType::table_row) shape = cell_count(block.payload);
    return {
        with_plain_ends(markdown_of({block})),
        with_plain_ends(markdown_of_alone(block)),
        static_cast<int>(block.type) * 1000 + static_cast<int>(shape),
    };
}

/// The new payload, with what Markdown cannot say taken from the old one.
std::string merged(const BlockInput& wanted, const std::string& stored) {
    json::value old = parse_json(stored);
    const json::value fresh = parse_json(wanted.payload);
    // A file is elsewhere or here.
    if (fresh.get_object().contains("external") || fresh.get_object().contains("file")) {
        old.get_object().erase("external");
        old.get_object().erase("file");
        old.get_object()["type"] = fresh.at("type");
    }
    for (const auto& [key, value] : fresh.get_object())
        if (std::ranges::find(said_by_markdown, std::string_view(key)) != said_by_markdown.end())
            old.get_object()[key] = value;
    Reader reader;
    JsonText text;
    Json<JsonText>::read(reader, {}, old, text);
    return text.text;
}

std::string toggleable(const std::string& heading) {
    auto payload = payload_as<HeadingBlock>(heading);
    payload.is_toggleable = true;
    std::string text;
    Json<HeadingBlock>::write(payload, text);
    return text;
}

}  // namespace

std::vector<WrittenBlock> written(const CardTree& tree, const Uuid& parent) {
    std::vector<WrittenBlock> blocks;
    for (const Uuid& id : tree.children(parent)) {
        const StoredBlock& row = tree.block(id);
        blocks.push_back({id, row.type, row.payload.text, written(tree, id)});
    }
    return blocks;
}

ReferenceNames kept_names(const CardTree& tree) {
    ReferenceNames names;
    tree.each([&](const StoredBlock& row) {
        const auto holds = [&](std::string_view member) {
            return row.payload.text.find(member) != std::string::npos;
        };
        if (holds("\"mention\"") || holds("\"file_id\"")) keep_names(row.payload.text, names);
    });
    return names;
}

void TreeDiff::rewrite(const Uuid& parent, std::vector<BlockInput> wanted) {
    const auto old = written(tree_, parent);
    std::vector<BlockSignature> before, after;
    for (const WrittenBlock& each : old) before.push_back(likeness_of(each));
    for (const BlockInput& each : wanted) after.push_back(likeness_of(written(each)));
    const auto pairs = matched(before, after);

    std::vector<bool> stays(old.size());
    for (const auto& each : pairs)
        if (each) stays[*each] = true;
    for (std::size_t i = 0; i < old.size(); ++i) {
        if (stays[i]) continue;
        tree_.trash(old[i].id);
        trashed_.push_back(old[i].id);
        emits_.push_back([id = old[i].id](BlockEvents& events) { events.deleted(id); });
    }

    const auto fixed = longest_rise(pairs);
    std::optional<Uuid> behind;
    for (std::size_t i = 0; i < wanted.size();) {
        if (!pairs[i]) {
            std::vector<BlockInput> run;
            while (i < wanted.size() && !pairs[i]) run.push_back(std::move(wanted[i++]));
            behind = insert(parent, behind, std::move(run));
            continue;
        }
        std::vector<Uuid> run;
        for (std::size_t j = i; j < wanted.size() && pairs[j] && !fixed[j]; ++j)
            run.push_back(old[*pairs[j]].id);
        if (!run.empty()) move(parent, behind, run);
        for (const std::size_t end = i + std::max<std::size_t>(run.size(), 1); i < end; ++i) {
            const std::size_t from = *pairs[i];
            behind = old[from].id;
            if (before[from].whole != after[i].whole)
                adapt(*behind, wanted[i], before[from].own == after[i].own);
        }
    }
}

namespace {

Place place_behind(const Uuid& parent, const std::optional<Uuid>& behind) {
    if (!behind) return {parent, PositionType::start, std::nullopt};
    return {parent, PositionType::after_block, behind};
}

}  // namespace

Uuid TreeDiff::insert(
    const Uuid& parent, const std::optional<Uuid>& behind, std::vector<BlockInput> run
) {
    const Place place = place_behind(parent, behind);
    const auto made = tree_.insert(place, tree_.gap(place), std::move(run));
    made_.insert(made_.end(), made.begin(), made.end());
    emits_.push_back([made](BlockEvents& events) { events.made(made); });
    return made.back();
}

void TreeDiff::move(
    const Uuid& parent, const std::optional<Uuid>& behind, const std::vector<Uuid>& run
) {
    tree_.reorder(run, parent, behind);
    Place place = place_behind(parent, behind);
    for (const Uuid& id : run) {
        updated_.push_back(id);
        emits_.push_back([id, place](BlockEvents& events) { events.moved(id, place); });
        place = place_behind(parent, id);
    }
}

void TreeDiff::adapt(const Uuid& id, BlockInput& wanted, bool same_text) {
    const StoredBlock& row = tree_.block(id);
    const bool opens = !wanted.children.empty() && is_toggleable(wanted.type, wanted.payload) &&
                       !is_toggleable(row.type, row.payload.text);
    if (!same_text || opens) {
        std::string payload = same_text ? row.payload.text : merged(wanted, row.payload.text);
        if (opens) payload = toggleable(payload);
        tree_.change(id, {std::move(payload), wanted.plain});
        updated_.push_back(id);
        emits_.push_back([id](BlockEvents& events) { events.changed(id); });
    }
    rewrite(id, std::move(wanted.children));
}

void TreeDiff::emit(BlockEvents& events) const {
    if (emits_.size() <= most_events) {
        for (const auto& each : emits_) each(events);
        return;
    }
    events.made(made_);
    events.changed(updated_);
    events.deleted(trashed_);
}

}  // namespace svc::content

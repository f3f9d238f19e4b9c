// A card's blocks as one Markdown text.

#include "modules/content/changes.hpp"
#include "modules/content/operations.hpp"
#include "modules/content/refused_markdown.hpp"
#include "modules/content/tree_diff.hpp"

namespace svc::content {

std::vector<BlockInput> parsed_markdown(const Call& call, const std::string& text) {
    return read_markdown(call, "\"markdown\"", text, blocks_of_markdown);
}

namespace {

struct CardMarkdown {
    Object<"card_markdown"> object;
    Uuid card_id;
    std::string markdown;
    std::int64_t block_count = 0;
    std::int64_t version = 0;
};
SVC_RECORD(
    CardMarkdown,
    (object),
    (card_id),
    (markdown, "The card's content."),
    (block_count, "Blocks in the body now, at any depth."),
    (version, "The card's; send it as If-Match to refuse to overwrite others.")
);

CardMarkdown shown(const CardTree& tree, std::int64_t version) {
    CardMarkdown markdown;
    markdown.card_id = tree.card().card_id;
    markdown.markdown = markdown_of(written(tree, tree.card().card_id));
    markdown.block_count = tree.live_count();
    markdown.version = version;
    return markdown;
}

struct CardId {
    boards::CardRef card_id;
};
SVC_RECORD(CardId, (card_id, "Its id, or its key such as ENG-42."));

CardMarkdown get(Call& call, const CardId& in) {
    auto seen = see_card(call, CardKey(in.card_id));
    CardTree tree(call);
    tree.queue_whole(CardKey(in.card_id));
    tree.take(require_visible(seen.one()));
    return shown(tree, tree.card().version);
}

enum class MarkdownMode { replace, append, find_replace };
BOOST_DESCRIBE_ENUM(MarkdownMode, replace, append, find_replace)

struct UpdateMarkdownRequest {
    boards::CardRef card_id;
    MarkdownMode mode{};
    std::string markdown;
    std::optional<std::string> find;
    bool replace_all = false;
};
SVC_RECORD(
    UpdateMarkdownRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (mode,
     "`replace` replaces the whole body, `append` adds to its end, `find_replace` replaces `find`.",
     defaulted),
    (markdown, "The text.", length(0, 200'000)),
    (find,
     "With `find_replace`: what to look for in the text that get_card_markdown gives. It has to "
     "stand there once, unless `replace_all` is set.",
     length(1, 200'000)),
    (replace_all, "Replaces every occurrence.", defaulted)
);

std::string replaced(const Call& call, const std::string& text, const UpdateMarkdownRequest& in) {
    constexpr std::size_t most = 2'000'000;
    std::string out;
    std::size_t count = 0, from = 0;
    for (auto at = text.find(*in.find); at != text.npos; at = text.find(*in.find, from)) {
        ++count;
        out.append(text, from, at - from).append(in.markdown);
        from = at + in.find->size();
        if (out.size() > most) throw wrong_at(call, "\"markdown\"", "the text gets too long");
    }
    if (count == 0) throw wrong_at(call, "\"find\"", "it stands nowhere in the card's text");
    if (count > 1 && !in.replace_all)
        throw wrong_at(
            call,
            "\"find\"",
            "it stands there " + std::to_string(count) + " times; say more, or set replace_all"
        );
    out.append(text, from);
    if (out.size() > most) throw wrong_at(call, "\"markdown\"", "the text gets too long");
    return out;
}

CardMarkdown update(Call& call, const UpdateMarkdownRequest& in) {
    if (in.find.has_value() != (in.mode == MarkdownMode::find_replace))
        throw wrong_at(call, "\"find\"", "it goes with the mode find_replace");
    // What is found depends on what stands there; all else is known before anything is asked.
    std::vector<BlockInput> blocks;
    if (!in.find) blocks = parsed_markdown(call, in.markdown);
    auto seen = lock_card(call, CardKey(in.card_id));
    CardTree tree(call);
    tree.queue_whole(CardKey(in.card_id));
    std::optional<NameLookup> names;
    const auto look_up = [&] {
        names.emplace(call, std::vector{naming_part("markdown", references_in(blocks))});
    };
    if (!in.find) look_up();
    tree.take(require_changeable(seen.one(), BoardRole::editor));
    call.require_version(tree.card().version);
    const Uuid card = tree.card().card_id;
    if (in.find) {
        blocks = parsed_markdown(call, replaced(call, markdown_of(written(tree, card)), in));
        look_up();
    }
    resolve(blocks, names->names(kept_names(tree)));
    BlockEvents events(call, tree);
    if (in.mode == MarkdownMode::append) {
        const Place place{card, PositionType::end, std::nullopt};
        events.made(tree.insert(place, tree.gap(place), std::move(blocks)));
    } else {
        TreeDiff rewriting(tree);
        rewriting.rewrite(card, std::move(blocks));
        rewriting.emit(events);
    }
    const bool changed = tree.write();
    if (changed) events.emit();
    return shown(tree, tree.card().version + (changed ? 1 : 0));
}

}  // namespace

const Operation get_card_markdown{
    .name = "get_card_markdown",
    .route = "GET /v1/cards/{card_id}/markdown",
    .summary = "Get a card's body as Markdown.",
    .description =
        "CommonMark with GitHub's tables, task lists and strikethrough. People and cards are named "
        "as links: `[@Ada](user:<id>)`, `[ENG-42](card:<id>)`, `[2026-06-19](date:2026-06-19)`.",
    .access = Access::board_viewer,
    .handler = get,
};

const Operation update_card_markdown{
    .name = "update_card_markdown",
    .route = "PATCH /v1/cards/{card_id}/markdown",
    .summary = "Update a card's body in Markdown: replace all of it, append, or find and replace.",
    .description =
        "Blocks that say the same as before keep their ids, and with them their colors and the "
        "comments about them; a block that says something else keeps its id where one of its type "
        "stood. What is no longer there goes to the trash.",
    .access = Access::board_editor,
    .destructive = true,
    .worker = true,
    .versioned = true,
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = update,
};

}  // namespace svc::content

// What boards asks of whoever keeps what is written on cards: bodies of new cards, copies, and
// what their work briefs say.

#include "modules/content/bodies.hpp"
#include "modules/boards/api/content_counts.hpp"
#include "modules/boards/api/shapes.hpp"

#include "modules/content/changes.hpp"
#include "modules/content/file_urls.hpp"
#include "modules/content/large_cards.hpp"
#include "modules/content/lib/markdown.hpp"
#include "modules/content/tree_diff.hpp"

#include "svc/json.hpp"

#include <boost/json/value.hpp>

namespace svc::content {

namespace {

// ----------------------------------------------------------------------------------- new cards

class NewBody final : public boards::CardBodies::Body {
public:
    NewBody(Call& call, std::vector<BlockInput> blocks, std::vector<NamingPart> parts)
        : blocks_(std::move(blocks)), names_(call, std::move(parts)), tree_(call) {
        tree_.queue_taken(blocks_);
    }

    std::int64_t block_count() const override {
        return static_cast<std::int64_t>(content::count_blocks(blocks_));
    }

    void write(Call& call, const boards::Card& card) override {
        CardAccess seen;
        seen.card_id = card.id;
        seen.board_id = card.board_id;
        seen.column_id = card.column_id;
        seen.now = card.created_time;
        tree_.take(std::move(seen));
        resolve(blocks_, names_.names());
        const Place place{card.id, PositionType::end, std::nullopt};
        const auto made = tree_.insert(place, {}, std::move(blocks_));
        BlockEvents events(call, tree_);
        events.made(made);
        tree_.write(CardTree::Raise::no);
        events.emit();
    }

private:
    std::vector<BlockInput> blocks_;
    NameLookup names_;
    CardTree tree_;
};

std::vector<BlockInput> children_of(const Call& call, const std::vector<JsonText>& texts) {
    std::vector<BlockInput> blocks(texts.size());
    Reader reader;
    auto root = reader.at(root_of(call));
    auto list = reader.at("children");
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto item = reader.at(i);
        Json<BlockInput>::read(reader, {}, parse_json(texts[i].text), blocks[i]);
    }
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
    if (count_blocks(blocks) > most_in_request)
        throw wrong_at(call, "\"children\"", "a request brings 1000 blocks at most");
    return blocks;
}

// ------------------------------------------------------------------------------------- copies

/// Of a card that holds more so much is copied by one statement, whose time is bounded.
constexpr std::int64_t copied_at_once = 1 << 20;
/// Fewer are copied by one, whatever they hold.
constexpr std::int64_t few_blocks = 8;

// While its blocks are copied by several statements the card stays as it is.
constexpr Sql hold_source{"content.hold_source", R"(
    SELECT FROM cards c WHERE c.org_id = $1 AND c.id = $2 FOR SHARE OF c)"};

// New ids are made of the old ones and the new card's, so that each statement knows those of the
// others. Answers how much that is, as of the same moment, and those that show uploaded files.
// $5 bytes of a part, $6 which part.
constexpr Sql copy_blocks{"content.copy_blocks", R"(
    WITH held AS MATERIALIZED (
        SELECT c.block_count, c.content_bytes, 1 + c.content_bytes / $5::bigint AS parts
        FROM cards c
        WHERE c.org_id = $1 AND c.id = $2::uuid
    ), source AS MATERIALIZED (
        SELECT copied_block_id(b.id, $3::uuid) AS copy_id, b.parent_id, b.type, b.payload, b.plain,
            b.position
        FROM held h
        JOIN blocks b ON b.org_id = $1 AND b.card_id = $2::uuid AND b.trashed_by IS NULL
            AND mod(uuid_hash(b.id) & 65535, h.parts) = $6::bigint
    ), copied AS (
        INSERT INTO blocks (
            org_id, id, card_id, parent_id, type, payload, plain, position, created_by,
            last_edited_by)
        SELECT $1, s.copy_id, $3::uuid,
            CASE WHEN s.parent_id = $2::uuid THEN $3::uuid
                ELSE copied_block_id(s.parent_id, $3::uuid) END,
            s.type, s.payload, s.plain, s.position, $4::jsonb, $4::jsonb
        FROM source s
    )
    SELECT h.block_count, h.content_bytes, h.parts, s.copy_id AS id, s.payload
    FROM held h
    LEFT JOIN source s ON s.payload::text LIKE '%"file_id"%')"};

struct CopyMade {
    std::int64_t block_count = 0;
    std::int64_t content_bytes = 0;
    std::int64_t parts = 1;
    std::optional<Uuid> id;  ///< null, once, when none shows a file
    std::optional<JsonText> payload;
};
SVC_RECORD(CopyMade, (block_count), (content_bytes), (parts), (id), (payload));

// -------------------------------------------------------------------------------------- briefs

constexpr std::string_view live_blocks = R"(
    SELECT v.id, v.card_id, v.parent_id, v.type, v.payload, v.position, v.trashed_by,
        false AS has_children, v.created_time, v.created_by, v.last_edited_time,
        v.last_edited_by, v.version
    FROM blocks v
    WHERE v.org_id = $1 AND v.card_id = $2 AND v.trashed_by IS NULL)";
// Nothing is read of a card that holds more than $3.
constexpr std::string_view if_not_too_much = R"(
        AND (SELECT c.content_bytes FROM cards c WHERE c.org_id = $1 AND c.id = $2) <= $3)";
constexpr Sql blocks_on_card{"content.blocks_on_card", SqlText<live_blocks, if_not_too_much>::view};

constexpr Sql bytes_on_card{"content.bytes_on_card", R"(
    SELECT content_bytes AS bytes FROM cards WHERE org_id = $1 AND id = $2)"};

struct Bytes {
    std::int64_t bytes = 0;
};
SVC_RECORD(Bytes, (bytes));

// A text of half that length takes as much as blocks of one line each.
constexpr std::int64_t most_shared_blocks = 8 << 20;

constexpr Sql brief_comments{"content.brief_comments", R"(
    SELECT m.plain, coalesce(m.created_by ->> 'name', 'somebody') AS author, m.created_time
    FROM (
        SELECT * FROM comments c
        WHERE c.org_id = $1 AND c.card_id = $2 AND NOT c.in_trash AND c.resolved_by IS NULL
        ORDER BY c.id DESC
        LIMIT 100
    ) m
    ORDER BY m.id)"};

struct BriefComment {
    std::string plain;
    std::string author;
    Timestamp created_time;
};
SVC_RECORD(BriefComment, (plain), (author), (created_time));

bool is_heading(BlockType type) {
    return type >= BlockType::heading_1 && type <= BlockType::heading_4;
}

/// A brief has headings of its own above those of the card.
void lower_headings(std::vector<WrittenBlock>& blocks) {
    for (WrittenBlock& each : blocks) {
        if (each.type == BlockType::heading_1) each.type = BlockType::heading_3;
        else if (is_heading(each.type)) each.type = BlockType::heading_4;
        lower_headings(each.children);
    }
}

/// What stands below a heading that speaks of acceptance, up to the next heading of its level, and
/// what there is to be ticked off.
std::vector<WrittenBlock> take_acceptance(std::vector<WrittenBlock>& blocks) {
    std::vector<WrittenBlock> taken, left;
    auto within = BlockType::paragraph;  // the heading, or none
    for (WrittenBlock& each : blocks) {
        if (is_heading(each.type)) {
            std::string title = plain_text_of(payload_as<HeadingBlock>(each.payload).rich_text);
            for (char& c : title)
                if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
            if (each.type <= within) within = BlockType::paragraph;
            if (title.find("acceptance") != std::string::npos) {
                within = each.type;
                std::ranges::move(each.children, std::back_inserter(taken));
                continue;
            }
        }
        const bool accepts = is_heading(within) || each.type == BlockType::to_do;
        (accepts ? taken : left).push_back(std::move(each));
    }
    blocks = std::move(left);
    return taken;
}

std::vector<WrittenBlock> below(
    const std::multimap<Uuid, const StoredBlock*>& rows, const Uuid& parent
) {
    std::vector<const StoredBlock*> level;
    for (auto [at, end] = rows.equal_range(parent); at != end; ++at) level.push_back(at->second);
    std::ranges::sort(level, {}, [](const StoredBlock* row) {
        return std::pair(row->position, row->id);
    });
    std::vector<WrittenBlock> blocks;
    for (const StoredBlock* row : level)
        blocks.push_back({row->id, row->type, row->payload.text, below(rows, row->id)});
    return blocks;
}

std::vector<WrittenBlock> tree_of(const std::vector<StoredBlock>& all, const Uuid& card) {
    std::multimap<Uuid, const StoredBlock*> rows;
    for (const StoredBlock& each : all) rows.emplace(each.parent_id, &each);
    return below(rows, card);
}

/// What is written on a card.
class Written {
public:
    Written(Tx& tx, const Uuid& org, const Uuid& card)
        : tx_(tx),
          org_(org),
          card_(card),
          held_(tx.later<Bytes>(bytes_on_card, org, card)),
          blocks_(tx.later<StoredBlock>(blocks_on_card, org, card, most_at_any_time)) {}

    std::int64_t bytes() {
        if (!bytes_) bytes_ = held_.one().value_or(Bytes{}).bytes;
        return *bytes_;
    }
    /// If that is much, `large` is to be kept as long as they are.
    std::vector<WrittenBlock> blocks(std::optional<LargeCardRead>& large) {
        auto rows = blocks_.all();
        if (rows.empty() && bytes() > 0) {
            large.emplace();
            rows = tx_.all<StoredBlock>(blocks_on_card, org_, card_, however_large);
        }
        return tree_of(rows, card_);
    }

private:
    Tx& tx_;
    const Uuid org_, card_;
    DeferredRows<Bytes> held_;
    DeferredRows<StoredBlock> blocks_;
    std::optional<std::int64_t> bytes_;
};

Failure too_long_to_share() {
    return Failure(
               Fault::too_large,
               "The card's content is longer than a share link shows: 1 MiB as Markdown."
    )
        .with("reason", "answer_too_large");
}

std::string as_list(const std::vector<BriefComment>& comments) {
    std::string text;
    for (const BriefComment& each : comments) {
        std::string said = each.plain;
        for (char& c : said)
            if (c == '\n') c = ' ';
        text += "- " + markdown_of(rich_text_of(each.author)) + ", " + each.created_time.str() +
                ": " + markdown_of(rich_text_of(said)) + "\n";
    }
    return text;
}

}  // namespace

std::unique_ptr<boards::CardBodies::Body> Bodies::read(Call& call, const Wanted& wanted) {
    if (wanted.children) {
        auto blocks = children_of(call, *wanted.children);
        auto parts = naming_parts("children", blocks);
        return std::make_unique<NewBody>(call, std::move(blocks), std::move(parts));
    }
    auto blocks = parsed_markdown(call, wanted.markdown.value_or(std::string()));
    std::vector parts{naming_part("markdown", references_in(blocks))};
    return std::make_unique<NewBody>(call, std::move(blocks), std::move(parts));
}

std::function<void()> Bodies::copy(
    Kernel& kernel, Tx& tx, const PrincipalRef& by, const Uuid& from, const boards::Card& to
) {
    const bool by_parts = to.block_count > few_blocks;
    if (by_parts) tx.queue(hold_source, to.org_id, from);
    const auto copy_part =
        [&tx, by, from, org = to.org_id, card = to.id, by_parts](std::int64_t part) {
            const auto bytes = by_parts ? copied_at_once : however_large;
            return tx.later<CopyMade>(copy_blocks, org, from, card, by, bytes, part);
        };
    return
        [&kernel, &tx, org = to.org_id, card = to.id, copy_part, first = copy_part(0)]() mutable {
            files::Files::Shown shown;
            auto made = first.all();
            if (made.empty()) return;
            const CopyMade counted = made.front();
            for (std::int64_t part = 1;; ++part) {
                for (const CopyMade& each : made)
                    if (each.id) shown.emplace_back(*each.id, files_in(each.payload->text));
                if (part >= counted.parts) break;
                made = copy_part(part).all();
            }
            boards::set_content_counts(tx, org, card, {counted.block_count, counted.content_bytes});
            attach_files(kernel, tx, org, card, shown);
        };
}

std::function<std::string()> Bodies::markdown(Tx& tx, const Uuid& org, const Uuid& card) {
    return [written = Written(tx, org, card)]() mutable {
        if (written.bytes() > most_shared_blocks) throw too_long_to_share();
        std::optional<LargeCardRead> large;
        std::string markdown = markdown_of(written.blocks(large));
        if (markdown.size() > page_bytes) throw too_long_to_share();
        return markdown;
    };
}

boards::BriefSource::Texts Bodies::about(Tx& tx, const Uuid& org, const Uuid& card) {
    Written written(tx, org, card);
    auto comments = tx.later<BriefComment>(brief_comments, org, card);
    return [written, comments]() mutable {
        std::optional<LargeCardRead> large;
        auto specification = written.blocks(large);
        auto acceptance = take_acceptance(specification);
        lower_headings(specification);
        lower_headings(acceptance);
        std::vector<boards::BriefText> texts;
        const auto add = [&](boards::BriefPart part, std::string markdown, bool keep_end) {
            if (!markdown.empty()) texts.push_back({part, std::move(markdown), keep_end});
        };
        add(boards::BriefPart::specification, markdown_of(specification), false);
        add(boards::BriefPart::acceptance, markdown_of(acceptance), false);
        add(boards::BriefPart::comments, as_list(comments.all()), true);
        return texts;
    };
}

}  // namespace svc::content

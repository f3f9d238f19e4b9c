// The work brief of a card: what somebody needs to know who is to do it.

#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/requests.hpp"
#include "modules/boards/lib/brief.hpp"
#include "modules/boards/lib/value_text.hpp"
#include "modules/boards/operations.hpp"
#include "svc/encoding.hpp"

namespace svc::boards {

namespace {

// $5 is the card. A card that the caller cannot see has no role and is counted, not named. A card
// may have thousands of parts and links: of each relation the first 200 are looked at, one by one.
constexpr Sql find_related{"boards.find_related", R"(
    SELECT r.relation, c.id, b.key || '-' || c.number AS key, c.title, k.name AS column_name,
        c.completed_at IS NOT NULL AS done, c.is_archived, c.in_trash,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM (
        (SELECT CASE l.kind WHEN 'blocks' THEN 'blocked_by' WHEN 'relates' THEN 'related'
                ELSE 'duplicate' END AS relation, l.card_id AS id
        FROM (VALUES ('blocks'), ('relates'), ('duplicates')) s (kind)
        CROSS JOIN LATERAL (
            SELECT x.kind, x.card_id FROM card_links x
            WHERE x.org_id = $1 AND x.target_id = $5 AND x.kind = s.kind
            ORDER BY x.card_id
            LIMIT 200
        ) l)
        UNION ALL
        (SELECT CASE l.kind WHEN 'relates' THEN 'related' WHEN 'blocks' THEN 'blocks'
                ELSE 'duplicate_of' END, l.target_id
        FROM (VALUES ('blocks'), ('relates'), ('duplicates')) s (kind)
        CROSS JOIN LATERAL (
            SELECT x.kind, x.target_id FROM card_links x
            WHERE x.org_id = $1 AND x.card_id = $5 AND x.kind = s.kind
            ORDER BY x.target_id
            LIMIT 200
        ) l)
        UNION ALL
        SELECT 'part_of', p.parent_card_id FROM cards p
        WHERE p.org_id = $1 AND p.id = $5 AND p.parent_card_id IS NOT NULL
        UNION ALL
        (SELECT 'part', p.id FROM cards p
        WHERE p.org_id = $1 AND p.parent_card_id = $5 AND NOT p.in_trash
        ORDER BY p.id
        LIMIT 200)
    ) r
    CROSS JOIN LATERAL (
        SELECT x.* FROM cards x WHERE x.org_id = $1 AND x.id = r.id OFFSET 0
    ) c
    CROSS JOIN LATERAL (
        SELECT x.* FROM boards x WHERE x.org_id = $1 AND x.id = c.board_id OFFSET 0
    ) b
    CROSS JOIN LATERAL (
        SELECT x.name FROM columns x WHERE x.org_id = $1 AND x.id = c.column_id OFFSET 0
    ) k
    )" SVC_BOARD_GRANT_BY_KEY("c.board_id") R"(
    ORDER BY r.relation, b.key, c.number
    LIMIT 200)"};

constexpr Sql find_place{"boards.place_of_card", R"(
    SELECT b.name AS board_name, k.name AS column_name
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id
    JOIN columns k ON k.org_id = $1 AND k.id = c.column_id
    WHERE c.org_id = $1 AND c.id = $2)"};

enum class Relation { blocked_by, blocks, duplicate, duplicate_of, part, part_of, related };
BOOST_DESCRIBE_ENUM(Relation, blocked_by, blocks, duplicate, duplicate_of, part, part_of, related)

struct RelatedCard {
    Relation relation{};
    Uuid id;
    std::string key;
    std::string title;
    std::string column_name;
    bool done = false;
    bool is_archived = false;
    bool in_trash = false;
    std::optional<BoardRole> role;
};
SVC_RECORD(
    RelatedCard,
    (relation),
    (id),
    (key),
    (title),
    (column_name),
    (done),
    (is_archived),
    (in_trash),
    (role)
);

struct Place {
    std::string board_name;
    std::string column_name;
};
SVC_RECORD(Place, (board_name), (column_name));

struct CardContextQuery {
    CardRef card_id;
    std::int64_t max_tokens = 4000;
};
SVC_RECORD(
    CardContextQuery,
    (card_id, "Its id, or its key such as ENG-42."),
    (max_tokens,
     "How long the text may be, by a conservative estimate.",
     range(200, 100'000),
     defaulted)
);

struct CardContext {
    Object<"card_context"> object;
    Uuid card_id;
    std::string key;
    std::int64_t card_version = 0;
    std::string markdown;
    std::int64_t token_count = 0;
    bool truncated = false;
    std::string etag;
};
SVC_RECORD(
    CardContext,
    (object),
    (card_id),
    (key, "The key of the card, such as ENG-42."),
    (card_version, "The card's version."),
    (markdown, "The brief: everything known about the card."),
    (token_count, "Its length in tokens, by a conservative estimate."),
    (truncated, "Some of it did not fit and is replaced by `[…]`."),
    (etag, "The same as long as the text is; by REST also as ETag, for If-None-Match.")
);

// ------------------------------------------------------------------------------------ the head

std::string named(const RelatedCard& card) {
    if (!card.role) return "a card that you cannot see";
    return card.key + " " + one_line(card.title);
}

std::string_view state_of(const RelatedCard& card) {
    if (card.in_trash) return "deleted";
    if (card.done) return "done";
    return card.is_archived ? "archived" : "open";
}

template <class Ref>
std::string names_of(const std::vector<Ref>& list) {
    std::string names;
    for (const Ref& each : list) {
        if (!names.empty()) names += ", ";
        if constexpr (std::is_same_v<Ref, PrincipalRef>) names += one_line(each.name.value_or("?"));
        else names += one_line(each.name);
    }
    return names;
}

void add_line(std::string& out, std::string_view what, std::string_view value) {
    if (value.empty()) return;
    out += "- ";
    out += what;
    out += ": ";
    out += value;
    out += '\n';
}

std::string number_text(double number) {
    std::string text;
    Json<double>::write(number, text);
    return text;
}

void add_related(std::string& out, const std::vector<RelatedCard>& all) {
    const std::pair<Relation, std::string_view> lines[] = {
        {Relation::part_of, "Part of"},
        {Relation::part, "Has the part"},
        {Relation::blocks, "Holds up"},
        {Relation::related, "Has to do with"},
        {Relation::duplicate_of, "Duplicate of"},
        {Relation::duplicate, "Has the duplicate"},
    };
    for (const auto& [relation, words] : lines)
        for (const RelatedCard& each : all)
            if (each.relation == relation)
                add_line(out, words, named(each) + " (" + std::string(state_of(each)) + ")");
}

template <class T>
std::string words_of(const T& value) {
    if constexpr (std::is_enum_v<T>) return std::string(name_of(value));
    else if constexpr (std::is_floating_point_v<T>) return number_text(value);
    else if constexpr (std::is_integral_v<T>) return std::to_string(value);
    else if constexpr (requires { value.str(); }) return value.str();
    else return one_line(value);
}

/// What is null or the first of its kind goes without saying.
template <class T>
void add_field(std::string& out, std::string name, const T& value) {
    if (value == T{}) return;
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    std::ranges::replace(name, '_', ' ');
    if constexpr (requires { *value; }) add_line(out, name, words_of(*value));
    else add_line(out, name, words_of(value));
}

std::string head_of(const Card& card, const Place& place, const std::vector<RelatedCard>& all) {
    std::string out = "# " + card.key + " " + one_line(card.title) + "\n\n";
    add_line(out, "Board", one_line(place.board_name));
    add_line(out, "Column", one_line(place.column_name));
    if (card.in_trash) add_line(out, "State", "in the trash");
    else if (card.is_archived) add_line(out, "State", "archived");
    if (card.completed_at) add_line(out, "Done", card.completed_at->str());
    SVC_EACH_CARD_FIELD(add_field, out, card);
    add_line(out, "Labels", names_of(card.labels.parsed()));
    add_line(out, "Assignees", names_of(card.assignees.parsed()));
    for (const auto& [name, value] : card.properties.parsed())
        add_line(out, one_line(name), one_line(text_of_value(value)));
    add_related(out, all);
    return out;
}

// ---------------------------------------------------------------------------------- the blockers

std::vector<BriefText> blockers_among(
    const std::vector<RelatedCard>& all, std::vector<BriefText> brief_texts
) {
    std::vector<BriefText> texts;
    for (const RelatedCard& each : all) {
        if (each.relation != Relation::blocked_by) continue;
        std::string line = "- " + named(each) + ": " + std::string(state_of(each));
        if (each.role) line += ", in " + one_line(each.column_name);
        texts.push_back({BriefPart::blockers, line + '\n'});
        for (BriefText& text : brief_texts)
            if (each.role && text.other_card == each.id) texts.push_back(std::move(text));
    }
    for (BriefText& text : brief_texts)
        if (!text.other_card) texts.push_back(std::move(text));
    return texts;
}

std::string etag_of(const Kernel& kernel, std::string_view text) {
    return '"' + hex(kernel.sign("card context", text).substr(0, 16)) + '"';
}

CardContext get_context(Call& call, const CardContextQuery& in) {
    Tx& tx = call.tx();
    const BoardCaller caller = BoardCaller::of(call);
    const Uuid id = id_of(call, in.card_id);
    auto seen_later = caller.later<CardAccess>(tx, see_card, id);
    auto relatives = caller.later<RelatedCard>(tx, find_related, id);
    auto place = tx.later<Place>(find_place, caller.org, id);
    std::vector<BriefSource::Texts> sources;
    for (BriefSource* each : static_cast<BriefsImpl&>(call.use<Briefs>()).sources())
        sources.push_back(each->about(tx, caller.org, id));

    const auto seen = seen_later.one();
    require_visible(seen);
    std::vector<BriefText> brief_texts;
    for (const auto& source : sources)
        for (BriefText& text : source()) brief_texts.push_back(std::move(text));
    const auto all = relatives.all();
    const Brief brief = compose(
        head_of(seen->card, place.one_or_retry(), all),
        blockers_among(all, std::move(brief_texts)),
        in.max_tokens
    );
    CardContext context;
    context.card_id = id;
    context.key = seen->card.key;
    context.card_version = seen->card.version;
    context.markdown = brief.markdown;
    context.token_count = brief.tokens;
    context.truncated = brief.truncated;
    context.etag = etag_of(call.kernel(), to_json(context));
    call.add_header("ETag", context.etag);
    return context;
}

}  // namespace

const Operation get_card_context{
    .name = "get_card_context",
    .route = "GET /v1/cards/{card_id}/context",
    .summary = "Get the work brief of a card: everything needed to work on it, as one text.",
    .description =
        "Markdown within `max_tokens`: what the card is, its specification and acceptance list, "
        "the cards that have to be done first and what came of them, earlier attempts, and the "
        "newest comments. When all of it is too long, each part gets its share. The same text has "
        "the same `etag`.",
    .access = Access::board_viewer,
    .worker = true,
    .handler = get_context,
};

}  // namespace svc::boards

// Finding boards, cards, blocks and comments by their words.

#include "modules/content/found.hpp"
#include "modules/content/operations.hpp"

#include <limits>

namespace svc::content {

namespace {

enum class Sought { board, card, page, block, comment };
BOOST_DESCRIBE_ENUM(Sought, board, card, page, block, comment)

enum class FilterProperty { object };
BOOST_DESCRIBE_ENUM(FilterProperty, object)

struct SearchFilter {
    FilterProperty property{};
    Sought value{};
};
SVC_RECORD(
    SearchFilter,
    (property, "What is looked at: the sort of thing.", defaulted),
    (value, "Only things of this sort; `page` is another name of `card`.")
);

enum class SortProperty { relevance };
BOOST_DESCRIBE_ENUM(SortProperty, relevance)
enum class SortTime { last_edited_time };
BOOST_DESCRIBE_ENUM(SortTime, last_edited_time)
enum class Direction { ascending, descending };
BOOST_DESCRIBE_ENUM(Direction, ascending, descending)

struct SearchSort {
    std::optional<SortProperty> property;
    std::optional<SortTime> timestamp;
    std::optional<Direction> direction;
};
SVC_RECORD(
    SearchSort,
    (property, "`relevance`: what fits best comes first."),
    (timestamp, "`last_edited_time`: by when it was last changed."),
    (direction, "With `timestamp`: `descending`, the latest first, if left out.")
);

struct SearchRequest {
    std::optional<std::string> query;
    std::optional<SearchFilter> filter;
    std::optional<Uuid> board_id;
    std::optional<SearchSort> sort;
    Paging paging;
};
SVC_RECORD(
    SearchRequest,
    (query,
     "Words that have to be there, the last of them perhaps only begun; \"words in quotes\" stand "
     "side by side, `or` means either, `-` excludes. Left out, everything is listed.",
     length(0, 500)),
    (filter, "Only things of one sort."),
    (board_id, "Only what is on this board."),
    (sort, "By relevance, if there is a query, or else the latest first."),
    (paging, "", spread)
);

/// Part of a text that was found.
struct HighlightPart {
    std::string text;
    bool matched = false;
};
SVC_RECORD(
    HighlightPart,
    (text, "Plain text, whatever it looks like: escape it before it becomes HTML."),
    (matched, "It is what was looked for.")
);

struct SearchResult {
    Found object{};
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    std::optional<Uuid> card_id;
    std::string key;
    std::string title;
    std::optional<BlockType> type;
    std::vector<HighlightPart> highlight;
    std::string url;
    Timestamp created_time;
    Timestamp last_edited_time;
};
SVC_RECORD(
    SearchResult,
    (object, "What sort of thing it is."),
    (id, ""),
    (org_id, "The workspace."),
    (board_id, "The board it is, or is on."),
    (card_id, "The card it is, or is on; null for a board."),
    (key, "Of the card, such as ENG-42; of a board, its key."),
    (title, "Of the card, or the board's name."),
    (type, "Of a block.", left_out),
    (highlight, "What it says around the words that were found, in pieces."),
    (url, "Where people see it."),
    (created_time, ""),
    (last_edited_time, "")
);

// Everything that the caller may see and that has the words, with a key to sort by. What is found
// is made readable for one page alone. Behind what open_boards takes: $6 sort of thing, $7 query,
// $8 order: relevance, latest or oldest; $9 and $10 where the last page ended. The words stand in a
// condition of their own, which an index can answer.
constexpr std::string_view of_words = R"(, asked AS (
        SELECT websearch_to_tsquery('simple', tamed($7)) AS words
    ), wanted AS (
        SELECT CASE WHEN a.words::text LIKE '%''' THEN (a.words::text || ':*')::tsquery
            ELSE a.words END AS words
        FROM asked a
    ), keyed AS (
        SELECT f.object, f.id,
            CASE $8
                WHEN 'relevance' THEN (ts_rank_cd(f.words, w.words, 1) * 1000000)::bigint
                WHEN 'latest' THEN (extract(epoch FROM f.last_edited_time) * 1000000)::bigint
                ELSE - (extract(epoch FROM f.last_edited_time) * 1000000)::bigint
            END AS sort_key
        FROM found_view f
        CROSS JOIN wanted w
        WHERE f.org_id = $1 AND f.object = coalesce($6, f.object)
            AND f.board_id = ANY (ARRAY(SELECT o.id FROM open o))
            AND f.words @@ (SELECT words FROM wanted)
    ), page AS (
        SELECT k.* FROM keyed k
        WHERE (k.sort_key, k.id) < ($9::bigint, $10::uuid)
        ORDER BY k.sort_key DESC, k.id DESC
        LIMIT $11
    )
    SELECT f.object, f.id, f.board_id, f.card_id, p.sort_key, f.key, f.title, f.type,
        untamed(ts_headline(
            'simple', tamed(translate(left(f.says, 20000), chr(1) || chr(2), '')), w.words,
            'StartSel=' || chr(1) || ', StopSel=' || chr(2)
                || ', MaxFragments=2, MaxWords=30, MinWords=10, FragmentDelimiter=" … "'))
            AS headline,
        f.created_time, f.last_edited_time
    FROM page p
    CROSS JOIN LATERAL (
        SELECT * FROM found_view v
        WHERE v.org_id = $1 AND v.object = p.object AND v.id = p.id OFFSET 0
    ) f
    CROSS JOIN wanted w
    ORDER BY p.sort_key DESC, p.id DESC)";

constexpr Sql find_words{"content.search", SqlText<open_boards, of_words>::view};

constexpr char mark_begins = '\x01', mark_ends = '\x02';

/// Takes the marks out of what the database gives.
std::vector<HighlightPart> parts_of(std::string_view headline) {
    std::vector<HighlightPart> parts;
    bool matched = false;
    while (!headline.empty()) {
        const auto end =
            std::min(headline.find(matched ? mark_ends : mark_begins), headline.size());
        if (end > 0) parts.push_back({std::string(headline.substr(0, end)), matched});
        headline.remove_prefix(std::min(end + 1, headline.size()));
        matched = !matched;
    }
    return parts;
}

SearchResult shown(const Call& call, Kernel& kernel, const Hit& hit) {
    SearchResult result;
    result.object = hit.object;
    result.id = hit.id;
    result.org_id = call.org();
    result.board_id = hit.board_id;
    result.card_id = hit.card_id;
    result.key = hit.key;
    result.title = hit.title;
    result.type = hit.type;
    result.highlight = parts_of(hit.headline);
    result.url = kernel.base_url() +
                 (hit.card_id ? "/cards/" + hit.card_id->str() : "/boards/" + hit.board_id.str());
    result.created_time = hit.created_time;
    result.last_edited_time = hit.last_edited_time;
    return result;
}

bool has_words(const SearchRequest& in) {
    return in.query && in.query->find_first_not_of(" \t\n") != std::string::npos;
}

/// Nothing: by relevance.
std::optional<ByTime> order_of(const Call& call, const SearchRequest& in) {
    const auto best = has_words(in) ? std::nullopt : std::optional(ByTime::latest);
    if (!in.sort) return best;
    if (in.sort->property.has_value() == in.sort->timestamp.has_value())
        throw wrong_at(call, "\"sort\"", "give either property or timestamp");
    if (in.sort->property) return best;
    return in.sort->direction == Direction::ascending ? ByTime::oldest : ByTime::latest;
}

std::optional<std::string_view> sort_of_thing(const SearchRequest& in) {
    if (!in.filter) return std::nullopt;
    return in.filter->value == Sought::page ? "card" : name_of(in.filter->value);
}

Later<Hit> ask(Call& call, const SearchRequest& in) {
    const auto thing = sort_of_thing(in);
    const auto order = order_of(call, in);
    if (!has_words(in)) return list_by_time(call, *order, in.board_id, thing, in.paging);
    const auto after = call.after(in.paging);
    return Seat::of(call).later<Hit>(
        call.tx(),
        find_words,
        in.board_id,
        thing,
        *in.query,
        order ? name_of(*order) : "relevance",
        after ? after->at(0) : std::to_string(std::numeric_limits<std::int64_t>::max()),
        after ? after->at(1) : Uuid().str(),
        in.paging.page_size + 1
    );
}

Page<SearchResult> look(Call& call, const SearchRequest& in) {
    auto page = call.page(ask(call, in).all(), in.paging, [](const Hit& last) {
        return std::vector{std::to_string(last.sort_key), last.id.str()};
    });
    Page<SearchResult> results{{}, page.next_cursor};
    for (const Hit& each : page.results)
        results.results.push_back(shown(call, call.kernel(), each));
    return results;
}

}  // namespace

const Operation search{
    .name = "search",
    .route = "POST /v1/search",
    .summary = "Find boards, cards, blocks and comments by their words.",
    .description =
        "Looks through everything that you may see. Words are matched as they stand, whatever "
        "their case. `highlight` gives the place that was found in pieces of plain text.",
    .access = Access::member,
    .reads = true,
    .handler = look,
};

}  // namespace svc::content

// Finding boards, cards, blocks and comments by their words.

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/content/found.hpp"
#include "modules/content/operations.hpp"
#include "modules/content/words_found.hpp"

#include <limits>
#include <variant>

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
    (property, "The property that is filtered by.", defaulted),
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
     "Words that have to be there, the last may be a prefix; \"words in quotes\" are a phrase, "
     "`or` means either, `-` excludes. Left out, everything is listed.",
     length(0, 500)),
    (filter, "Only things of one sort."),
    (board_id, "Only what is on this board."),
    (sort, "By relevance, if there is a query, or else the latest first."),
    (paging, "", flatten)
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

struct Highlight {
    std::vector<HighlightPart> highlight;
};
SVC_RECORD(Highlight, (highlight, "Its text around the words that were found, in pieces."));

struct CardResult {
    boards::Card card;
    Highlight highlight;
};
SVC_RECORD(CardResult, (card, "", flatten), (highlight, "", flatten));

struct BoardResult {
    boards::Board board;
    Highlight highlight;
};
SVC_RECORD(BoardResult, (board, "", flatten), (highlight, "", flatten));

struct TextResult {
    Found object{};
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    std::optional<Uuid> card_id;
    std::string key;
    std::string title;
    std::optional<BlockType> type;
    Highlight highlight;
    std::string url;
    Timestamp created_time;
    Timestamp last_edited_time;
};
SVC_RECORD(
    TextResult,
    (object, "`block` or `comment`."),
    (id),
    (org_id, "The workspace."),
    (board_id, "The board it is on."),
    (card_id, "The card it is on."),
    (key, "The card's key, such as ENG-42."),
    (title, "The card's title."),
    (type, "The block's type.", omit_empty),
    (highlight, "", flatten),
    (url, "Where people see it."),
    (created_time),
    (last_edited_time)
);

/// A card and a board as their own reads give them; of a block or a comment where it is.
struct SearchResult {
    std::variant<CardResult, BoardResult, TextResult> found;
};
SVC_RECORD(SearchResult, (found, "", flatten));

constexpr char mark_begins = '\x01', mark_ends = '\x02';

/// Takes the marks out of what the database gives.
Highlight highlight_of(std::string_view headline) {
    std::vector<HighlightPart> parts;
    bool matched = false;
    while (!headline.empty()) {
        const auto end =
            std::min(headline.find(matched ? mark_ends : mark_begins), headline.size());
        if (end > 0) parts.push_back({std::string(headline.substr(0, end)), matched});
        headline.remove_prefix(std::min(end + 1, headline.size()));
        matched = !matched;
    }
    return {std::move(parts)};
}

// ------------------------------------------------------------------------ what a page shows

constexpr Sql find_cards{"content.cards_found", R"(
    SELECT v.* FROM card_view v WHERE v.org_id = $1 AND v.id = ANY ($2::uuid[]))"};

constexpr Sql find_boards{"content.boards_found", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role
    FROM board_view v
    )" SVC_BOARD_GRANT("v.id") R"(
    WHERE v.org_id = $1 AND v.id = ANY ($5::uuid[]))"};

TextResult shown_text(Call& call, const Hit& hit) {
    TextResult result;
    result.object = hit.object;
    result.id = hit.id;
    result.org_id = call.org();
    result.board_id = hit.board_id;
    result.card_id = hit.card_id;
    result.key = hit.key;
    result.title = hit.title;
    result.type = hit.type;
    result.highlight = highlight_of(hit.headline);
    result.url = call.kernel().base_url() + "/cards/" + hit.card_id->str();
    result.created_time = hit.created_time;
    result.last_edited_time = hit.last_edited_time;
    return result;
}

/// The whole records of a page's cards and boards. A board may be half a megabyte long: those that
/// the page has no room for are not read.
class Records {
public:
    Records(Call& call, const std::vector<Hit>& hits) : call_(call) {
        std::vector<Uuid> card_ids, board_ids;
        for (const Hit& each : hits) {
            if (each.object == Found::card) card_ids.push_back(each.id);
            if (each.object == Found::board) board_ids.push_back(each.id);
        }
        if (!card_ids.empty())
            for (auto& each : call.tx().later<boards::Card>(find_cards, call.org(), card_ids).all())
                cards_.emplace(each.id, std::move(each));
        const std::size_t enough = call.tx().bytes_received() + page_bytes;
        for (std::size_t from = 0; from < board_ids.size(); from += boards_at_once) {
            if (call.tx().bytes_received() > enough) {
                first_unread_ = board_ids[from];
                break;
            }
            const auto begin = board_ids.begin() + static_cast<std::ptrdiff_t>(from);
            const auto count = std::min(boards_at_once, board_ids.size() - from);
            const std::vector<Uuid> some(begin, begin + static_cast<std::ptrdiff_t>(count));
            for (auto& each :
                 BoardCaller::of(call).later<boards::Board>(call.tx(), find_boards, some).all())
                boards_.emplace(each.id, std::move(each));
        }
    }

    bool has_read(const Hit& hit) const { return hit.id != first_unread_; }

    /// Nothing when it went for good meanwhile.
    std::optional<SearchResult> shown(const Hit& hit) {
        if (hit.object == Found::card) {
            const auto card = cards_.find(hit.id);
            if (card == cards_.end()) return std::nullopt;
            boards::show(call_.kernel(), card->second);
            return SearchResult{CardResult{card->second, highlight_of(hit.headline)}};
        }
        if (hit.object == Found::board) {
            const auto board = boards_.find(hit.id);
            if (board == boards_.end()) return std::nullopt;
            board->second.url = boards::url_of(call_.kernel(), board->second);
            return SearchResult{BoardResult{board->second, highlight_of(hit.headline)}};
        }
        return SearchResult{shown_text(call_, hit)};
    }

private:
    static constexpr std::size_t boards_at_once = 16;
    Call& call_;
    std::map<Uuid, boards::Card> cards_;
    std::map<Uuid, boards::Board> boards_;
    std::optional<Uuid> first_unread_;
};

// ----------------------------------------------------------------------------------- asking

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

// The index of words answers by no other kind of scan.
constexpr Sql take_bitmaps{"content.take_bitmaps", R"(
    SELECT WHERE set_config('enable_bitmapscan', 'on', true) IS NOT NULL)"};

DeferredRows<Hit> ask(Call& call, const SearchRequest& in) {
    const auto thing = sort_of_thing(in);
    const auto order = order_of(call, in);
    if (!has_words(in)) return list_by_time(call, *order, in.board_id, thing, in.paging);
    const auto after = call.after(in.paging);
    call.tx().queue(take_bitmaps);
    return BoardCaller::of(call).later<Hit>(
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

std::vector<std::string> keys_of(const Hit& last) {
    return {std::to_string(last.sort_key), last.id.str()};
}

Page<SearchResult> look(Call& call, const SearchRequest& in) {
    const auto page = call.page(ask(call, in).all(), in.paging, keys_of);
    Page<SearchResult> results{{}, page.next_cursor};
    Records records(call, page.results);
    std::string text;
    for (std::size_t i = 0; i < page.results.size(); ++i) {
        const Hit& hit = page.results[i];
        auto shown = records.has_read(hit) ? records.shown(hit) : std::nullopt;
        if (shown) Json<SearchResult>::write(*shown, text);
        const bool is_full = !records.has_read(hit) || text.size() > page_bytes;
        if (is_full && !results.results.empty()) {
            results.next_cursor = call.cursor(keys_of(page.results[i - 1]));
            break;
        }
        if (shown) results.results.push_back(*std::move(shown));
    }
    return results;
}

}  // namespace

const Operation search{
    .name = "search",
    .route = "POST /v1/search",
    .summary = "Search boards, cards, blocks and comments.",
    .description =
        "Looks through everything that you may see. Words are matched as they stand, whatever "
        "their case. Cards and boards are answered as get_card and get_board give them, blocks and "
        "comments by where they are. `highlight` gives the place that was found in pieces of plain "
        "text. Of a word that thousands have, the latest are weighed.",
    .access = Access::member,
    .reads = true,
    .worker = true,
    .handler = look,
};

}  // namespace svc::content

// How work flows over a board, worked out from the events of its cards.

#include "modules/boards/operations.hpp"
#include "modules/boards/statements.hpp"

#include <map>

namespace svc::boards {

namespace {

/// The record is read backwards, so many events at most.
constexpr std::int64_t most_events = 50'000;

struct Durations {
    std::int64_t count = 0;
    std::optional<std::int64_t> median_seconds;
    std::optional<std::int64_t> p85_seconds;
    std::optional<std::int64_t> longest_seconds;
};
SVC_RECORD(
    Durations,
    (count, "How many cards it is about."),
    (median_seconds, "Half of them took no longer; null when there are none."),
    (p85_seconds, "85 of 100 took no longer."),
    (longest_seconds, "None took longer.")
);

struct DayMetrics {
    Date date;
    std::int64_t created_count = 0;
    std::int64_t completed_count = 0;
};
SVC_RECORD(
    DayMetrics,
    (date, "A day in UTC."),
    (created_count, "Cards that were made."),
    (completed_count, "Cards that reached a column of kind `done` from another kind.")
);

struct ColumnMetrics {
    Uuid column_id;
    std::string name;
    ColumnKind kind{};
    std::optional<std::int64_t> wip_limit;
    std::int64_t card_count = 0;
    std::int64_t entered_count = 0;
    std::int64_t left_count = 0;
    Durations stay;
    Durations age;
};
SVC_RECORD(
    ColumnMetrics,
    (column_id),
    (name, "The column's name."),
    (kind, "What being in the column means."),
    (wip_limit, "How many cards may stand there at once; null: any number."),
    (card_count, "Cards that stand there now."),
    (entered_count, "How often a card came in during the time asked for."),
    (left_count, "How often one left."),
    (stay, "How long those that left had been there."),
    (age, "How long those that are there have been there: work that grows old.")
);

struct BoardMetrics {
    Object<"board_metrics"> object;
    Uuid board_id;
    std::int64_t days = 0;
    std::optional<Timestamp> known_since;
    AsJson<std::vector<DayMetrics>> throughput;
    AsJson<Durations> cycle_time;
    AsJson<Durations> lead_time;
    AsJson<std::vector<ColumnMetrics>> columns;
};
SVC_RECORD(
    BoardMetrics,
    (object),
    (board_id),
    (days, "As asked for."),
    (known_since,
     "The oldest event that was counted: events are kept for so long, and the newest 50,000 of "
     "the board are read. What happened before is not counted."),
    (throughput, "Day by day, the oldest first."),
    (cycle_time,
     "For completed cards, the time from when work on them could begin, in a column of kind "
     "`queue` or `active`, or else from when they were made."),
    (lead_time, "For the same cards, the time from their creation."),
    (columns, "From left to right.")
);

// A card that moves within its column changes its place and not its column.
constexpr Sql read_steps{"boards.steps_of_cards", R"(
    SELECT x.kind, x.object_id AS card_id,
        CASE WHEN x.kind NOT IN ('card.archived', 'card.deleted') THEN x.column_id END AS column_id,
        x.kind <> 'card.moved' OR strpos(x.changes, '"column_id":"') > 0 AS goes,
        x.occurred_at AS at
    FROM events x
    WHERE x.org_id = $1 AND x.board_id = $2
        AND x.board_sequence > (
            SELECT h.board_sequence - $3 FROM event_board_heads h
            WHERE h.org_id = $1 AND h.board_id = $2)
        AND x.kind IN ('card.created', 'card.moved', 'card.archived', 'card.restored',
            'card.deleted')
    ORDER BY x.board_sequence)"};

struct Step {
    std::string kind;
    Uuid card_id;
    std::optional<Uuid> column_id;  ///< none: it left the board
    bool goes = false;              ///< from one place to another
    Timestamp at;
};
SVC_RECORD(Step, (kind), (card_id), (column_id), (goes), (at));

// Those that stand on the board, and those that were completed while it is looked at.
constexpr Sql read_cards{"boards.cards_to_measure", R"(
    SELECT c.id, c.column_id, c.created_time, NOT c.is_archived AND NOT c.in_trash AS stands
    FROM cards c
    WHERE c.org_id = $1 AND c.board_id = $2
        AND (NOT c.is_archived AND NOT c.in_trash
            OR c.completed_at >= now() - make_interval(days => $3::int)))"};

struct MeasuredCard {
    Uuid id;
    Uuid column_id;
    Timestamp created_time;
    bool stands = false;
};
SVC_RECORD(MeasuredCard, (id), (column_id), (created_time), (stands));

constexpr Sql read_columns{"boards.columns_to_measure", R"(
    SELECT k.id AS column_id, k.name, k.kind, k.wip_limit, now() AS now
    FROM columns k
    WHERE k.org_id = $1 AND k.board_id = $2 AND NOT k.in_trash
    ORDER BY k.position, k.id)"};

struct MeasuredColumn {
    Uuid column_id;
    std::string name;
    ColumnKind kind{};
    std::optional<std::int64_t> wip_limit;
    Timestamp now;
};
SVC_RECORD(MeasuredColumn, (column_id), (name), (kind), (wip_limit), (now));

constexpr std::int64_t micros_a_day = 86'400'000'000;

std::int64_t seconds_between(const Timestamp& from, const Timestamp& until) {
    return std::max<std::int64_t>(0, (until.micros - from.micros) / 1'000'000);
}

std::int64_t day_of(const Timestamp& at) { return at.micros / micros_a_day; }

Date date_of(std::int64_t day) {
    return Date::parse(Timestamp{day * micros_a_day}.str().substr(0, 10)).value();
}

Durations summed_up(std::vector<std::int64_t> seconds) {
    std::ranges::sort(seconds);
    const auto count = seconds.size();
    const auto at = [&](std::size_t hundredths) {
        return seconds[(count * hundredths + 99) / 100 - 1];
    };
    if (count == 0) return {};
    return {static_cast<std::int64_t>(count), at(50), at(85), seconds.back()};
}

/// Goes through the steps once, oldest first, so that the cost rises with their number and with
/// that of the cards and with nothing else. A stay begins when a card comes into a column and ends
/// with its next step. Whoever was there before anything is known counts from when the card was
/// made.
class Measuring {
public:
    Measuring(const Uuid& board, std::int64_t days, std::vector<MeasuredColumn> columns)
        : columns_(std::move(columns)), figures_(columns_.size()) {
        metrics_.board_id = board;
        metrics_.days = days;
        now_ = columns_.empty() ? Timestamp{} : columns_.front().now;
        since_ = {now_.micros - days * micros_a_day};
        for (std::size_t i = 0; i < columns_.size(); ++i) at_.emplace(columns_[i].column_id, i);
    }

    void know(const std::vector<MeasuredCard>& cards) {
        for (const MeasuredCard& each : cards) cards_.emplace(each.id, each);
    }

    void go_through(const std::vector<Step>& steps) {
        for (const Step& each : steps) {
            if (!metrics_.known_since || each.at < *metrics_.known_since)
                metrics_.known_since = each.at;
            if (each.kind == "card.created") ++created_[day_of(each.at)];
            if (each.goes) go(each);
        }
    }

    BoardMetrics result() {
        for (const auto& [id, card] : cards_)
            if (card.stands) grow_old(card);
        std::vector<DayMetrics> throughput;
        for (std::int64_t day = day_of(now_) - metrics_.days + 1; day <= day_of(now_); ++day)
            throughput.push_back({date_of(day), created_[day], completed_[day]});
        std::vector<ColumnMetrics> columns;
        for (std::size_t i = 0; i < columns_.size(); ++i) columns.push_back(column(i));
        metrics_.throughput = AsJson(throughput);
        metrics_.cycle_time = AsJson(summed_up(std::move(cycles_)));
        metrics_.lead_time = AsJson(summed_up(std::move(leads_)));
        metrics_.columns = AsJson(columns);
        return std::move(metrics_);
    }

private:
    /// A card between two steps.
    struct Whereabouts {
        std::optional<Uuid> column;
        Timestamp since;
        std::optional<Timestamp> begun;  ///< when it first came where work on it could begin
    };
    struct Figures {
        std::int64_t entered = 0;
        std::vector<std::int64_t> stays, ages;
    };

    void go(const Step& step) {
        Whereabouts& card = whereabouts_[step.card_id];
        Figures* left = figures_of(card.column);
        if (left && step.at >= since_) left->stays.push_back(seconds_between(card.since, step.at));
        if (Figures* entered = figures_of(step.column_id); entered && step.at >= since_)
            ++entered->entered;
        const auto kind = kind_of(step.column_id);
        const bool arrives = step.kind == "card.created" || step.kind == "card.moved";
        if (arrives && kind == ColumnKind::done && kind_of(card.column) != ColumnKind::done)
            complete(step, card.begun);
        if (!card.begun && (kind == ColumnKind::queue || kind == ColumnKind::active))
            card.begun = step.at;
        card.column = step.column_id;
        card.since = step.at;
    }

    void complete(const Step& step, const std::optional<Timestamp>& begun) {
        const auto card = cards_.find(step.card_id);
        if (step.at < since_ || card == cards_.end()) return;
        ++completed_[day_of(step.at)];
        const Timestamp made = card->second.created_time;
        leads_.push_back(seconds_between(made, step.at));
        cycles_.push_back(seconds_between(begun.value_or(made), step.at));
    }

    void grow_old(const MeasuredCard& card) {
        Figures* figures = figures_of(card.column_id);
        if (!figures) return;
        const auto known = whereabouts_.find(card.id);
        const bool here = known != whereabouts_.end() && known->second.column == card.column_id;
        figures->ages.push_back(
            seconds_between(here ? known->second.since : card.created_time, now_)
        );
    }

    Figures* figures_of(const std::optional<Uuid>& column) {
        const auto at = column ? at_.find(*column) : at_.end();
        return at == at_.end() ? nullptr : &figures_[at->second];
    }

    std::optional<ColumnKind> kind_of(const std::optional<Uuid>& column) const {
        const auto at = column ? at_.find(*column) : at_.end();
        return at == at_.end() ? std::nullopt : std::optional(columns_[at->second].kind);
    }

    ColumnMetrics column(std::size_t index) {
        const MeasuredColumn& column = columns_[index];
        Figures& figures = figures_[index];
        const auto count = static_cast<std::int64_t>(figures.ages.size());
        const auto left = static_cast<std::int64_t>(figures.stays.size());
        return {
            column.column_id,
            column.name,
            column.kind,
            column.wip_limit,
            count,
            figures.entered,
            left,
            summed_up(std::move(figures.stays)),
            summed_up(std::move(figures.ages))};
    }

    BoardMetrics metrics_;
    std::vector<MeasuredColumn> columns_;
    std::vector<Figures> figures_;  // one for each column
    std::map<Uuid, std::size_t> at_;
    std::map<Uuid, MeasuredCard> cards_;
    std::map<Uuid, Whereabouts> whereabouts_;
    std::map<std::int64_t, std::int64_t> created_, completed_;  // by day
    std::vector<std::int64_t> cycles_, leads_;
    Timestamp now_, since_;
};

struct MetricsQuery {
    Uuid board_id;
    std::int64_t days = 30;
};
SVC_RECORD(MetricsQuery, (board_id), (days, "How far back to look.", range(1, 90), defaulted));

BoardMetrics get(Call& call, const MetricsQuery& in) {
    Tx& tx = call.tx();
    const auto board = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id).one();
    if (!board) not_found("board");
    require(board->role, BoardRole::viewer, "board");
    auto columns = tx.later<MeasuredColumn>(read_columns, call.org(), in.board_id);
    auto cards = tx.later<MeasuredCard>(read_cards, call.org(), in.board_id, in.days);
    auto steps = tx.later<Step>(read_steps, call.org(), in.board_id, most_events);
    Measuring measuring(in.board_id, in.days, columns.all());
    measuring.know(cards.all());
    measuring.go_through(steps.all());
    return measuring.result();
}

}  // namespace

const Operation get_board_metrics{
    .name = "get_board_metrics",
    .route = "GET /v1/boards/{board_id}/metrics",
    .summary = "Measure a board: throughput, cycle time, and how old the work in each column is.",
    .description =
        "Worked out from the events of the board's cards. The kinds of columns are those of today.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::boards

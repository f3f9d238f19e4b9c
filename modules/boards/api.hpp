#pragma once

#include "modules/boards/bodies.hpp"
#include "modules/boards/card_files.hpp"
#include "modules/boards/jobs.hpp"
#include "modules/boards/parts/names.hpp"
#include "modules/boards/parts/rich_text.hpp"
#include "modules/boards/parts/spacing.hpp"
#include "modules/boards/shapes.hpp"
#include "svc/kernel.hpp"

/// What boards offers to other modules: its shapes, who may what, moving cards, who watches them,
/// its events.
namespace svc::boards {

// ------------------------------------------------------------------------------ who may what

enum class SeatKind { person, token, agent };
BOOST_DESCRIBE_ENUM(SeatKind, person, token, agent)

/// A caller as board_role() of the migrations takes it. Statements that judge a caller bind it
/// in front of all else: $1 workspace, $2 principal, $3 kind, $4 role; and give `role`, which is
/// null for a stranger.
struct Seat {
    Uuid org;
    Uuid principal;
    SeatKind kind{};
    OrgRole role{};

    static Seat of(const Call& call) {
        const Caller& who = call.caller();
        const SeatKind kind = !who.is_person() ? SeatKind::agent
                              : who.token_id   ? SeatKind::token
                                               : SeatKind::person;
        return {call.org(), who.id, kind, who.role};
    }
    /// Somebody to whom no board of the workspace is closed: for jobs, and for the holder of a
    /// lease, who needs no other right.
    static Seat of_system(const Uuid& org) { return {org, {}, SeatKind::person, OrgRole::owner}; }

    template <Described Row, class... Arg>
    Later<Row> later(Tx& tx, const Sql& sql, const Arg&... arg) const {
        return tx.later<Row>(sql, org, principal, kind, role, arg...);
    }
};

/// Ends the request unless the caller may: strangers get 404, who may look but not act 403.
/// `thing` as in "There is no such card."
inline void require(const std::optional<BoardRole>& role, BoardRole least, std::string_view thing) {
    if (!role) not_found(thing);
    if (*role >= least) return;
    throw Failure(
        Fault::restricted,
        "This takes the role " + std::string(name_of(least)) + " on the board; yours is " +
            std::string(name_of(*role)) + "."
    );
}

/// 409 about something on a board that was put away.
inline Failure board_archived() {
    return Failure(
               Fault::conflict,
               "The board is archived, so nothing on it can be changed; restore it first."
    )
        .with("reason", "board_archived");
}
/// 409 about something on a card that was deleted.
inline Failure card_in_trash() {
    return Failure(Fault::conflict, "The card is in the trash; restore it first.")
        .with("reason", "card_in_trash");
}

/// Where people see it.
inline std::string url_of(const Kernel& kernel, const Board& board) {
    return kernel.base_url() + "/boards/" + board.id.str();
}

// ------------------------------------------------------------------------------- naming cards

inline constexpr Sql find_card_by_key{"boards.find_card_by_key", R"(
    SELECT c.id FROM boards b
    JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = $3
    WHERE b.org_id = $1 AND b.key = $2)"};

struct CardOfKey {
    Uuid id;
};
SVC_RECORD(CardOfKey, (id, ""));

/// The id behind a key such as ENG-42; a round trip when it is not an id already. 404 for a key
/// that no card has. Whether the caller may know the card is for later statements to say.
inline Uuid id_of(Call& call, const CardRef& ref) {
    if (ref.id) return *ref.id;
    const auto found =
        call.tx().one<CardOfKey>(find_card_by_key, call.org(), ref.board_key, ref.number);
    if (!found) not_found("card");
    return found->id;
}

// ------------------------------------------------------------------------------ moving cards

/// What a column asks of the cards in it.
struct ColumnRules {
    Uuid column_id;
    ColumnKind kind{};
    std::optional<std::int64_t> wip_limit;
    WipPolicy wip_policy{};
    bool queue_enabled = false;
    QueueOrder queue_order{};
};
SVC_RECORD(
    ColumnRules,
    (column_id, ""),
    (kind, ""),
    (wip_limit, ""),
    (wip_policy, ""),
    (queue_enabled, ""),
    (queue_order, "")
);

/// A card that is given a place: made, moved, archived, restored.
struct Placing {
    const Card* before = nullptr;  ///< null when it is new
    const Card& after;
    const ColumnRules* column = nullptr;  ///< where it stands now; null when it left the board
    Timestamp now;                        ///< the transaction's, by the database
    Doer& doer;
};

/// Keeps something of its own in step with where cards stand, in the transaction that places
/// them (docs/decisions/0011-boards-tells-its-watchers.md). Handed to Moves::watch while modules
/// open; called on any thread.
class CardWatcher {
public:
    virtual ~CardWatcher() = default;

    using Settle = std::function<void(const Placing&)>;
    /// An existing card, locked, is about to be placed. May queue what it needs to know, but
    /// reads nothing yet. What it returns is called once the place is certain; it may read
    /// those answers, queue writes and tell events, but causes no further round trip.
    virtual Settle about_to_place(Tx& tx, const Uuid& org, const Uuid& card) = 0;
    /// A new card's row is queued; may queue writes.
    virtual void made(Tx& tx, const Placing& placing) = 0;
    /// A card in a queue has another priority or due date; may queue writes.
    virtual void reordered(Tx& tx, const Card& card) = 0;
    /// A queue offers its cards in another order, and its row is queued; may queue writes.
    virtual void reordered(Tx& tx, const Column& column) = 0;
    /// Cards of this column have other keys in the same order, and their rows are queued; may
    /// queue writes.
    virtual void spaced(
        Tx& tx, const Uuid& org, const Uuid& column, const std::vector<Uuid>& cards
    ) = 0;
};

/// A move in two steps: begin() queued what has to be read and locked, carry_out() queues what
/// is to be written. Dropped in between, nothing was done. The first question sends the
/// pipeline.
class Move {
public:
    virtual ~Move() = default;
    /// The card as it stands, locked until the transaction ends; null when there is none.
    virtual const Card* card() = 0;
    /// Where it would go; null when there is no such column.
    virtual const ColumnRules* to() = 0;
    /// There is no room: to() has a hard limit and is full.
    virtual bool full() = 0;
    /// The card as it stands afterwards. Throws Failure 409 wip_limit_reached when full().
    virtual Card carry_out(Doer& doer) = 0;
};

/// Where a card is to go when nobody says so by name.
enum class Turn { completed, exhausted };
BOOST_DESCRIBE_ENUM(Turn, completed, exhausted)

/// Offered by boards to modules that move cards.
class Moves {
public:
    static constexpr std::string_view name = "boards.moves";

    virtual void watch(CardWatcher& watcher) = 0;
    /// Begins to move a card to the end of `column`, or, without one, to where its present
    /// column sends cards at this turn. `asker` moves its own things itself and is not told.
    virtual std::unique_ptr<Move> begin(
        Tx& tx,
        const Uuid& org,
        const Uuid& card,
        const std::optional<Uuid>& column,
        Turn turn,
        const CardWatcher* asker
    ) = 0;

protected:
    ~Moves() = default;
};

// ---------------------------------------------------------------------------------- watching

/// Offered by boards to modules in which people are called to a card.
class Watchers {
public:
    static constexpr std::string_view name = "boards.watchers";
    /// Queues that these watch the card from now on: those of them who may see it.
    virtual void add(
        Tx& tx, const Uuid& org, const Uuid& card, const std::vector<Uuid>& principals
    ) = 0;

protected:
    ~Watchers() = default;
};

// ------------------------------------------------------------------------------------- trash

/// Offered by boards to modules in which things lie in the trash as well.
class Trash {
public:
    static constexpr std::string_view name = "boards.trash";
    /// How long they lie there before they go for good.
    virtual std::chrono::seconds kept() const = 0;

protected:
    ~Trash() = default;
};

// ------------------------------------------------------------------------------------ events

inline constexpr EventKind board_created{
    "board.created", "board", "A board was made.", &record_of<Board>};
inline constexpr EventKind board_updated{
    "board.updated",
    "board",
    "A board has another name, key, icon or visibility, or was put away.",
    &record_of<Board>};
inline constexpr EventKind board_deleted{
    "board.deleted", "board", "A board was put into the trash.", &record_of<Board>};
inline constexpr EventKind board_restored{
    "board.restored",
    "board",
    "A board was brought back from the archive or the trash.",
    &record_of<Board>};
inline constexpr EventKind column_created{
    "column.created", "column", "A board got another column.", &record_of<Column>};
inline constexpr EventKind column_updated{
    "column.updated",
    "column",
    "A column has another name, kind, limit, queue or place.",
    &record_of<Column>};
inline constexpr EventKind column_deleted{
    "column.deleted", "column", "A board lost a column.", &record_of<Column>};
inline constexpr EventKind label_created{
    "label.created", "label", "A board got another label.", &record_of<Label>};
inline constexpr EventKind label_updated{
    "label.updated",
    "label",
    "A label has another name or color; cards show it so.",
    &record_of<Label>};
inline constexpr EventKind label_deleted{
    "label.deleted", "label", "A board lost a label, and so did its cards.", &record_of<Label>};
inline constexpr EventKind property_created{
    "property.created",
    "property",
    "A board got another property.",
    &record_of<PropertyDefinition>};
inline constexpr EventKind property_updated{
    "property.updated",
    "property",
    "A property has another name, place or format, or other options; cards show it so.",
    &record_of<PropertyDefinition>};
inline constexpr EventKind property_deleted{
    "property.deleted",
    "property",
    "A board lost a property, and its cards their values of it.",
    &record_of<PropertyDefinition>};
inline constexpr EventKind card_created{
    "card.created", "card", "A card was made.", &record_of<Card>};
inline constexpr EventKind card_updated{
    "card.updated", "card", "Something about a card changed, but for its place.", &record_of<Card>};
inline constexpr EventKind card_assigned{
    "card.assigned", "card", "A card has other assignees.", &record_of<Card>};
inline constexpr EventKind card_moved{
    "card.moved", "card", "A card stands elsewhere.", &record_of<Card>};
inline constexpr EventKind card_archived{
    "card.archived", "card", "A card was put away.", &record_of<Card>};
inline constexpr EventKind card_restored{
    "card.restored", "card", "A card was brought back.", &record_of<Card>};
inline constexpr EventKind card_deleted{
    "card.deleted", "card", "A card was put into the trash.", &record_of<Card>};
inline constexpr EventKind card_blocked{
    "card.blocked", "card", "A card has to wait for another.", &record_of<Card>};
inline constexpr EventKind card_unblocked{
    "card.unblocked", "card", "A card no longer has to wait for any other.", &record_of<Card>};
inline constexpr EventKind card_linked{
    "card.linked", "card_link", "Two cards have to do with each other.", &record_of<CardLink>};
inline constexpr EventKind card_unlinked{
    "card.unlinked", "card_link", "A link between two cards was taken away.", &record_of<CardLink>};
// They were gone for everybody already: for the audit record alone.
inline constexpr EventKind board_purged{
    "board.purged", "board", "A board was removed from the trash for good."};
inline constexpr EventKind card_purged{
    "card.purged", "card", "A card was removed from the trash for good."};
// Who looks is nobody else's business: for the audit record alone.
inline constexpr EventKind card_watched{"card.watched", "card", "Somebody watches a card."};
inline constexpr EventKind card_unwatched{
    "card.unwatched", "card", "Somebody no longer watches a card."};

}  // namespace svc::boards

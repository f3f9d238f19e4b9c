#pragma once

#include "modules/boards/bodies.hpp"
#include "modules/boards/card_files.hpp"
#include "modules/boards/events.hpp"
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
    template <class... Arg>
    Result queue(Tx& tx, const Sql& sql, const Arg&... arg) const {
        return tx.queue(sql, org, principal, kind, role, arg...);
    }
    template <class... Arg>
    void lock(Tx& tx, const Sql& sql, const Arg&... arg) const {
        tx.lock(sql, org, principal, kind, role, arg...);
    }
};

/// What a statement that locks asks besides, in front of the board's id and a bracket: that the
/// caller, $1 to $4, may see the board, edit what is on it, or administer it. Callers without the
/// right neither block others nor wait for them; they are refused once all is locked. No EXISTS,
/// which the planner may turn round: to go from all boards to all their cards.
inline constexpr std::string_view if_role = R"( (
        SELECT true FROM boards mb
        LEFT JOIN board_grants mg
            ON mg.org_id = $1 AND mg.principal_id = $2 AND mg.board_id = mb.id
        WHERE mb.org_id = $1
            AND board_role($2, $3, $4, mb.visibility, mb.created_by, mg.role,
                $3 = 'agent' AND EXISTS (
                    SELECT FROM board_grants x WHERE x.org_id = $1 AND x.principal_id = $2)))";
inline constexpr std::string_view any_role = R"( IS NOT NULL AND mb.id = )";
inline constexpr std::string_view role_of_editor = R"( IN ('editor', 'admin') AND mb.id = )";
inline constexpr std::string_view role_of_admin = R"( = 'admin' AND mb.id = )";
inline constexpr std::string_view if_seen = SqlText<if_role, any_role>::view;
inline constexpr std::string_view if_editor = SqlText<if_role, role_of_editor>::view;
inline constexpr std::string_view if_admin = SqlText<if_role, role_of_admin>::view;

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
SVC_SHARED_RECORD(CardOfKey, (id, ""));

inline constexpr Sql find_cards_by_keys{"boards.find_cards_by_keys", R"(
    SELECT b.key AS board_key, c.number, c.id
    FROM unnest($2::text[], $3::text[]) w (key, number)
    JOIN boards b ON b.org_id = $1 AND b.key = w.key
    JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = w.number::bigint)"};

struct CardOfKeys {
    std::string board_key;
    std::int64_t number = 0;
    Uuid id;
};
SVC_SHARED_RECORD(CardOfKeys, (board_key, ""), (number, ""), (id, ""));

/// Gives those that are named by their keys their ids: one round trip, none when all are ids. A key
/// that no card has becomes the nil UUID, which whoever uses it refuses as an id that nothing has.
inline void find_ids(Call& call, const std::vector<CardRef*>& refs) {
    std::vector<std::string> keys, numbers;
    for (const CardRef* each : refs) {
        if (each->id) continue;
        keys.push_back(each->board_key);
        numbers.push_back(std::to_string(each->number));
    }
    if (keys.empty()) return;
    const auto found = call.tx().all<CardOfKeys>(find_cards_by_keys, call.org(), keys, numbers);
    for (CardRef* each : refs) {
        if (each->id) continue;
        each->id = Uuid();
        for (const CardOfKeys& card : found)
            if (card.board_key == each->board_key && card.number == each->number)
                each->id = card.id;
    }
}

/// Ids of those that have them by now.
inline std::optional<Uuid> id_in(const std::optional<CardRef>& ref) {
    return ref ? ref->id : std::nullopt;
}
inline std::vector<Uuid> ids_in(const std::vector<CardRef>& refs) {
    std::vector<Uuid> ids;
    for (const CardRef& each : refs) ids.push_back(*each.id);
    return ids;
}

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
SVC_SHARED_RECORD(
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
    /// An existing card, locked if `seat` may change it, is about to be placed. May queue what it
    /// needs to know, but reads nothing yet. What it returns is called once the place is certain;
    /// it may read those answers, queue writes and tell events, but causes no further round trip.
    virtual Settle about_to_place(Tx& tx, const Seat& seat, const Uuid& card) = 0;

    using SettleAll = std::function<void(std::span<const Placing>)>;
    /// The same for many that all come to one column or all leave the board, with a few statements
    /// for all of them. Those given to what it returns are some of `cards`, in any order.
    virtual SettleAll about_to_place(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) = 0;
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
    /// The card as it stands, locked until the transaction ends if the seat may edit it; null when
    /// there is none.
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
    /// For a seat that may not edit the card nothing is locked, and it is not to be carried out.
    virtual std::unique_ptr<Move> begin(
        Tx& tx,
        const Seat& seat,
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

// ------------------------------------------------------------------------------ bytes stored

/// Offered by boards to modules that store something for workspaces
/// (docs/decisions/0025-bytes-are-counted-as-they-grow.md).
class StoredBytes {
public:
    static constexpr std::string_view name = "boards.stored_bytes";

    /// Queues that the transaction stores so many bytes more. When the workspace has no room for
    /// them, the transaction fails: 402 `plan_limit_reached`, with the limit `storage`.
    virtual void add(Tx& tx, const Uuid& org, std::int64_t bytes) = 0;
    /// A statement that answers how many `bytes` there really are in the workspace $1. While
    /// modules open.
    virtual void count_by(const Sql& sql) = 0;

protected:
    ~StoredBytes() = default;
};

/// Queues the same, for modules of a server on which boards is on.
inline void store_bytes(Call& call, std::int64_t bytes) {
    if (bytes > 0) call.use<StoredBytes>().add(call.tx(), call.org(), bytes);
}

/// What such a statement answers.
struct BytesCounted {
    std::int64_t bytes = 0;
};
SVC_SHARED_RECORD(BytesCounted, (bytes, ""));

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

}  // namespace svc::boards

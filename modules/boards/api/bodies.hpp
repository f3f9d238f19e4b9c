#pragma once

#include "svc/call.hpp"

#include <functional>

/// What other modules know about a card: what is written on it, and what its work brief says.
namespace svc::boards {

struct Card;

/// Offered by the module that keeps what is written on cards, for boards to find; without one cards
/// have no bodies.
///
/// That module also keeps `block_count` and `comment_count` in the card's row: blocks and comments
/// that are not in the trash.
class CardBodies {
public:
    static constexpr std::string_view name = "boards.CardBodies";

    /// The body of a new card as create_card was given it: one of the two.
    struct Wanted {
        std::optional<std::vector<JsonText>>
            children;  ///< blocks, as append_block_children has them
        std::optional<std::string> markdown;
    };
    /// A body that has been looked at and is not written yet.
    class Body {
    public:
        virtual ~Body() = default;
        virtual std::int64_t block_count() const = 0;
        /// Queues its rows and emits their events; the card's own row, with that count, is queued.
        virtual void write(Call& call, const Card& card) = 0;
    };
    /// Throws Failure 422 at ["body", "children" or "markdown", …]. May queue look-ups; they are
    /// read when the body is written.
    virtual std::unique_ptr<Body> read(Call& call, const Wanted& wanted) = 0;

    /// Queues copies of the blocks of the card `from` for `to`, whose own row is queued with the
    /// same `block_count`. The function returned sees to what the copies show; it is called once
    /// all copies are queued, so that they are made in one go.
    virtual std::function<void()> copy(
        Kernel& kernel, Tx& tx, const PrincipalRef& by, const Uuid& from, const Card& to
    ) = 0;

    /// Queues the question what is written on the card; the function returned reads it as Markdown,
    /// empty when nothing is. That somebody may see the card is for boards to judge.
    virtual std::function<std::string()> markdown(Tx& tx, const Uuid& org, const Uuid& card) = 0;

protected:
    ~CardBodies() = default;
};

// --------------------------------------------------------------------------------- comments

/// Offered by the module that keeps comments, to modules that make one beside what they do.
class CardComments {
public:
    static constexpr std::string_view name = "boards.CardComments";
    static constexpr std::size_t most_characters = 50'000;

    /// One that has been looked at and is not written yet.
    class Comment {
    public:
        virtual ~Comment() = default;
        /// Asks, queues its row and the card's count of it, also in `card`, and emits it. The
        /// card is locked by the caller, who has also judged who may speak.
        virtual void write(Call& call, Card& card, const Timestamp& now) = 0;
    };
    /// Reads Markdown as create_comment does; Failure 422 at ["body", `field`]. May queue look-ups;
    /// they are read when the comment is written.
    virtual std::unique_ptr<Comment> read(
        Call& call, std::string_view field, const std::string& markdown
    ) = 0;

protected:
    ~CardComments() = default;
};

// ---------------------------------------------------------------------------- the work brief

/// The parts of a work brief, in the order they stand in.
enum class BriefPart { specification, acceptance, blockers, attempts, comments };

/// Text for one part: Markdown without headings of the first two levels. Texts of the same part
/// stand one behind the other. What does not fit is cut between lines: at the end, or, with
/// `keep_end`, at the beginning, where the newest counts most.
struct BriefText {
    BriefPart part{};
    std::string markdown;
    bool keep_end = false;
    /// The other card that it tells about, if it is one of those that block this one; left out when
    /// the caller may not see that.
    std::optional<Uuid> other_card{};
};

/// Knows something about a card that belongs into its work brief. Called on any thread.
class BriefSource {
public:
    virtual ~BriefSource() = default;

    using Texts = std::function<std::vector<BriefText>()>;
    /// Queues what has to be read about the card and the cards that block it (card_links of kind
    /// `blocks` with this card as their target), but reads nothing yet; what it returns does. That
    /// the caller may see the card is for boards to judge.
    virtual Texts about(Tx& tx, const Uuid& org, const Uuid& card) = 0;
};

/// Offered by boards to modules that know something for briefs; told while modules open.
class Briefs {
public:
    static constexpr std::string_view name = "boards.Briefs";
    virtual void add(BriefSource& source) = 0;

protected:
    ~Briefs() = default;
};

}  // namespace svc::boards

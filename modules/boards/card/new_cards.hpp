#pragma once

#include "modules/boards/card/creation.hpp"
#include "modules/boards/card/numbers.hpp"
#include "modules/boards/card/requests.hpp"
#include "svc/joint.hpp"

/// Making cards: what all ways of it have in common, and the one without a look before.
namespace svc::boards {

/// The card as far as the request says what it is.
Card card_of(Call& call, const CreateCardRequest& in);

/// Numbers for cards that are to be made. As long as nobody can have seen them they are given out
/// again when there are no such cards after all.
class TakenNumbers {
public:
    TakenNumbers(Call& call, const Uuid& board, std::span<NewCard> cards);
    ~TakenNumbers() { give_back_from(0); }
    TakenNumbers(const TakenNumbers&) = delete;
    TakenNumbers& operator=(const TakenNumbers&) = delete;

    /// The statement goes out that makes the cards; its answer says how many of them, unless it is
    /// lost.
    void hand_over() { handed_over_ = true; }
    void answered(std::size_t made);

private:
    void give_back_from(std::size_t first) noexcept;

    CardNumbers& numbers_;
    const Uuid board_;
    std::vector<std::int64_t> taken_;
    bool handed_over_ = false;
};

/// Throws what keeps the caller from creating a card there at all. Required properties are for
/// whoever states any.
void require_ground(Call& call, const Ground& ground);
/// Queues what belongs to cards and asks for nothing but their rows.
void queue_with(Call& call, std::span<const NewCard> cards);
/// Fills in what the statement says of it.
void complete(Card& card, const Ground& ground, std::int64_t number);
void tell_watchers(Call& call, const Card& card, const Ground& ground);
Event event_of(const Card& card);

/// Whether names have to be looked up, or a place beside others, before there is a card to store.
bool needs_lookups(const CreateCardRequest& in);
/// Creates, by one statement, the cards of requests that need no lookups, all of one column. As
/// many as it has room for, the first of them; throws where that is none.
std::vector<Card> create_at_once(
    Call& call, std::span<const JointRequest<CreateCardRequest>> requests
);

}  // namespace svc::boards

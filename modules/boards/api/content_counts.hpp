#pragma once

#include "svc/caller.hpp"
#include "svc/tx.hpp"

/// What a card's row says of its content, for the module that keeps it: how many blocks and
/// comments it has, and how many bytes those blocks hold. All queue one statement in the
/// transaction that changes the content; the card is locked by then.
namespace svc::boards {

/// What a write adds to a card, less what it takes away.
struct ContentChange {
    std::int64_t blocks = 0, bytes = 0;
};

/// The card's next version, with so much more content.
void raise_card(
    Tx& tx, const Uuid& org, const Uuid& card, const ContentChange& more, const PrincipalRef& by
);
/// What the content of a new card holds; its row counts the blocks itself.
void add_content_bytes(Tx& tx, const Uuid& org, const Uuid& card, std::int64_t bytes);
/// What the content of a copied card is.
void set_content_counts(Tx& tx, const Uuid& org, const Uuid& card, const ContentChange& all);
/// Comments are no new version of the card.
void count_comments(Tx& tx, const Uuid& org, const Uuid& card, std::int64_t more);

}  // namespace svc::boards

#pragma once

#include "modules/boards/api/stored_bytes.hpp"
#include "modules/orgs/api.hpp"

/// What a workspace stores, and how much it may.
namespace svc::boards {

/// What is added is written down in rows of its own, which a job adds up: no row is written by
/// everybody. What is taken away counts until a job counts everything anew.
class StoredBytesImpl final : public StoredBytes, public orgs::Storage {
public:
    /// `limit` 0: none.
    StoredBytesImpl(Kernel& kernel, std::int64_t limit);

    /// Of what is small only one in some is written down, as if it were that much.
    void add(Tx& tx, const Uuid& org, std::int64_t bytes) override;
    /// Of a card whose row is queued; nothing if it is not stored after all.
    void add_card(Tx& tx, const Uuid& org, const Uuid& card, std::int64_t bytes);
    /// As much as the bodies of these cards hold, where cards have bodies.
    void add_bodies(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards);
    /// As much as the cards hold that a new board is going to have copies of.
    void add_copies(Tx& tx, const Uuid& org, const Uuid& board);
    void count_by(const Sql& sql) override { countings_.push_back(&sql); }

    std::function<std::int64_t()> used(Tx& tx, const Uuid& org) const override;
    std::optional<std::int64_t> limit() const override;

    /// Takes the rows of what was added together.
    void add_up() const;
    /// Counts anew, at most so many workspaces: those that grew and were not counted for an hour,
    /// and all once a day.
    void recount() const;

private:
    Kernel& kernel_;
    const std::int64_t limit_;
    std::vector<const Sql*> countings_;
};

/// Queues that bodies of these cards are stored once more.
void store_bodies(Call& call, const std::vector<Uuid>& cards);
/// Queues that the cards planned for a board's copy are stored once more, all of them before the
/// first is copied: a copy does not end halfway for want of room.
void store_copies(Call& call, const Uuid& board);

}  // namespace svc::boards

#pragma once

#include "modules/boards/api/access.hpp"

#include <array>
#include <mutex>
#include <unordered_map>

/// The numbers of cards: ENG-42 is number 42 of its board.
namespace svc::boards {

/// Gives out numbers, of blocks that this server takes from its boards: first of one, then twice as
/// many each time, up to 64. So they rise on every server, are unique on the board, and may have
/// gaps: what a server had in hand when it was killed, and what was taken for a card that was not
/// made. Any thread.
class CardNumbers {
public:
    static constexpr std::string_view name = "boards.CardNumbers";
    static constexpr std::int64_t largest_block = 64;

    explicit CardNumbers(Kernel& kernel) : kernel_(kernel) {}
    virtual ~CardNumbers() = default;

    /// A number for a card that the call means to make. Nothing when the caller may not edit the
    /// board. A call whose transaction has begun takes one in it, and others wait for its commit.
    std::optional<std::int64_t> take(Call& call, const Uuid& board);
    /// The number was not used; it is given out again unless a later one was taken.
    void give_back(const Uuid& board, std::int64_t number) noexcept;
    /// Gives the rest of all blocks back to their boards: for when the server stops.
    virtual void give_back_all() noexcept;

private:
    struct Block {
        Uuid org;
        std::int64_t next = 1, last = 0;
        std::int64_t size = 1;  // of the next block
    };
    struct Hash {
        std::size_t operator()(const Uuid& id) const;
    };
    static constexpr std::size_t most = 4096;  ///< boards; beyond it the rest of a block is dropped

    std::optional<std::int64_t> take_from_block(const Uuid& board);
    Block block_of(const Uuid& board);
    void keep(const Uuid& board, const Block& block);

    Kernel& kernel_;
    std::array<std::mutex, 16> taking_;  // by board; locked before mutex_
    std::mutex mutex_;
    std::unordered_map<Uuid, Block, Hash> blocks_;
};

/// Adds what has changed of the numbers of cards to those of the boards. A job's work.
void add_up_counts(Kernel& kernel);

}  // namespace svc::boards

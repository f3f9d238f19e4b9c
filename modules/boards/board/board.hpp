#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/board.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/statements.hpp"

/// Boards, as several files make and read them.
namespace svc::boards {

/// The board as the caller is shown it; `role` is null for strangers.
DeferredRows<Board> see_whole_board(Tx& tx, const BoardCaller& caller, const Uuid& board);

struct Confinement {
    bool confined = false;
};
SVC_SHARED_RECORD(Confinement, (confined));

/// Ends the request unless the caller may make boards: what it asks for is queued.
class MayMakeBoards {
public:
    /// Throws Failure 403 for viewers.
    explicit MayMakeBoards(Call& call);
    /// Reads; throws Failure 403 for agents that are confined to boards they were granted.
    void require();

private:
    Call& call_;
    DeferredRows<Confinement> found_;
};

/// Stores a new board under its id, under `key` or a key that is made of the name, and completes
/// what the database decides about it. Throws Failure 409 key_taken.
void store_new(Call& call, Board& board, const std::optional<std::string>& key);

Failure key_taken(const std::string& key);

/// The icon as it is kept, with the address of an uploaded picture. 422 when its `type` does not
/// name what it has, or when the caller has uploaded no such picture.
std::optional<orgs::Icon> icon_of(Call& call, std::optional<orgs::Icon> icon);

}  // namespace svc::boards

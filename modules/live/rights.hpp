#pragma once

#include "modules/boards/api/access.hpp"

/// Who may see which events: the one place that says so. Streams, lists and presence ask here.
namespace svc::live {

/// The audience of a stored event; of a kind that no module which is on declares, admins.
Audience audience_of(const Kernel& kernel, std::string_view kind);

/// Whether a caller with `role` in the workspace, and `on_board` where the event happened on one,
/// gets events for this audience.
bool may_see(
    Audience audience,
    bool happened_on_board,
    std::optional<boards::BoardRole> on_board,
    OrgRole role
);

/// Whose role on which board is asked for.
struct RoleQuestion {
    boards::BoardCaller caller;
    Uuid board;
};

/// Queues the questions, of one workspace, for which the transaction acts; the function returned
/// reads an answer for each: none when the caller does not see the board, or it is gone for good.
/// A board in the trash is judged as before.
std::function<std::vector<std::optional<boards::BoardRole>>()> ask_roles(
    Tx& tx, const Uuid& org, const std::vector<RoleQuestion>& questions
);

}  // namespace svc::live

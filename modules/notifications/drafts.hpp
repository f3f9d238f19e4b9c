#pragma once

#include "modules/notifications/facts.hpp"
#include "modules/notifications/shapes.hpp"

/// What an event is told as, and to whom.
namespace svc::notifications {

/// One sentence for everybody it is for.
struct Draft {
    Uuid org;
    NotificationKind kind{};
    std::string title;
    std::string body{};
    std::vector<Uuid> to{};  ///< people and agents; whoever did it is left out later
    Uuid subject;            ///< what repeats are grouped by
    std::string target_type;
    Uuid target;
    std::string least_role = "viewer";  ///< in the workspace: "admin", "owner"
    std::optional<Uuid> board{}, card{};
    std::optional<PrincipalRef> actor{};
    std::optional<Uuid> event{};
    std::int64_t count = 1;  ///< how many things it tells of
    std::optional<Timestamp> expires_at{};
    bool is_personal = false;  ///< for somebody outside the workspace
    bool mailed_once = false;  ///< not again before what was told of it is read
};

/// Nobody is in two of them.
std::vector<Draft> drafts_of(const Facts& facts);

/// What an event undoes: notifications that are no news any more, or that nobody may see.
struct Undoing {
    enum class What { none, card, comment, blocks, person, invitation } what = What::none;
    Uuid id;  ///< the card, the comment, the card whose blocks, the person, or the invitation
};
Undoing undoing_of(const Facts& facts);

}  // namespace svc::notifications

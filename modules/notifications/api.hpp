#pragma once

#include "svc/tx.hpp"
#include "svc/types.hpp"

/// What notifications offers to modules whose news are no events.
namespace svc::notifications {

/// Something that a person is to know.
struct Notice {
    Uuid org;                 ///< the workspace it belongs to
    Uuid person;              ///< a member of it
    std::string kind;         ///< one of NotificationKind: "feedback"
    std::string title;        ///< plain text; what is longer than 200 characters is cut
    std::string body{};       ///< plain text; what is longer than 2000 is cut
    std::string target_type;  ///< what it is about, as its `object` is called: "feedback"
    /// Its id: unread notices of one kind about one target are one notification, with a count.
    Uuid target;
};

class Notices {
public:
    static constexpr std::string_view name = "notifications.Notices";

    /// Queues the notice in `tx`, which acts for its workspace or for all. A moment after the
    /// commit the person has it as their preferences say, in the product or by mail.
    virtual void post(Tx& tx, const Notice& notice) = 0;

protected:
    ~Notices() = default;
};

}  // namespace svc::notifications

#include "modules/notifications/choices.hpp"

#include <stdexcept>

namespace svc::notifications {

auth::NotificationChannels auth::NotificationChoices::* choice_of(NotificationKind kind) {
    using Kind = NotificationKind;
    using Choices = auth::NotificationChoices;
    switch (kind) {
        case Kind::mention: return &Choices::mention;
        case Kind::assigned: return &Choices::assigned;
        case Kind::comment: return &Choices::comment;
        case Kind::moved: return &Choices::moved;
        case Kind::due: return &Choices::due;
        case Kind::invitation: return &Choices::invitation;
        case Kind::membership: return &Choices::membership;
        case Kind::lease_failed: return &Choices::lease_failed;
        case Kind::lease_expired: return &Choices::lease_expired;
        case Kind::exhausted: return &Choices::exhausted;
        case Kind::automation_failed: return &Choices::automation_failed;
        case Kind::agent_disabled: return &Choices::agent_disabled;
        case Kind::webhook_disabled: return &Choices::webhook_disabled;
        case Kind::billing: return &Choices::billing;
        case Kind::feedback: return &Choices::feedback;
        case Kind::system: return &Choices::system;
    }
    throw std::logic_error("a notification of no kind");
}

std::optional<NotificationKind> kind_named(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(NotificationKind::system); ++i)
        if (const auto kind = static_cast<NotificationKind>(i); name_of(kind) == name) return kind;
    return std::nullopt;
}

bool is_mailed(NotificationKind kind) {
    return kind != NotificationKind::invitation && kind != NotificationKind::webhook_disabled;
}

}  // namespace svc::notifications
